"""Counts the tokens of a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from split_client.generation.loop import Event, TokenEvent
from split_client.generation.speculation.given import Given


class Usage:
    """``prompts``: tokens of each prompt; ``choices``: replies to each, in order.

    A prompt counts once, however many replies it has; a reply's end token counts as a token.
    ``prompt_seconds`` up to the first token of each reply, ``reply_seconds`` from there on.
    ``computed``: every prompt was, before its first reply.
    """

    def __init__(self, prompts: Sequence[int], choices: int = 1, *, computed: bool = False) -> None:
        self._prompts = tuple(prompts)
        self._choices = choices
        self._cached: dict[int, int] = dict.fromkeys(range(len(prompts)), 0) if computed else {}
        # Of those the ones that are not exact.
        self._approximate: dict[int, int] = {}
        self._completion = self._accepted = self._proposed = 0
        self.prompt_seconds = self.reply_seconds = 0.0
        self._begun: set[int] = set()
        # By reply, where the draft came from that its tokens are compared with.
        self._sources: dict[int, str] = {}

    def count(self, index: int, event: Event) -> None:
        """Count ``event`` of the reply ``index``."""
        if not isinstance(event, TokenEvent):
            return
        self._completion += 1
        self._count_time(index, event)
        self._count_prediction(index, event)
        prompt = index // self._choices
        # Tokens that need no step tell nothing of the prompt.
        if event.rows:
            # What of the prompt was not computed for its first reply's first step was cached.
            cached = max(0, self._prompts[prompt] - event.prompt_computed)
            self._cached.setdefault(prompt, cached)
            self._approximate.setdefault(prompt, min(cached, event.spared.inexact.total))

    def document(self) -> dict[str, Any]:
        """As OpenAI tells it."""
        prompt = sum(self._prompts)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": self._completion,
            "total_tokens": prompt + self._completion,
            "prompt_tokens_details": self._prompt_details(),
            "completion_tokens_details": {
                "accepted_prediction_tokens": self._accepted,
                "rejected_prediction_tokens": self._proposed - self._accepted,
            },
        }

    def approximate(self) -> dict[str, int]:
        """``approximate_tokens``: those cached that are not exact, named only where there are."""
        approximate = sum(self._approximate.values())
        return {"approximate_tokens": approximate} if approximate else {}

    def _count_time(self, index: int, event: TokenEvent) -> None:
        if index in self._begun:
            self.reply_seconds += event.timing.total
        else:
            self.prompt_seconds += event.timing.total
        self._begun.add(index)

    def _prompt_details(self) -> dict[str, int]:
        return {"cached_tokens": sum(self._cached.values())} | self.approximate()

    def _count_prediction(self, index: int, event: TokenEvent) -> None:
        """Of what the request predicted, only what was tried counts."""
        if event.drafted:
            self._sources[index] = event.draft_source
        source = self._sources.get(index)
        if source == Given.name:
            self._proposed += event.drafted
            self._accepted += event.guessed
