"""Counts the tokens of a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from split_client.generation.loop import Event, TokenEvent


class Usage:
    """``prompts``: tokens of each prompt; ``choices``: replies to each, in order.

    A prompt counts once, however many replies it has; a reply's end token counts as a token.
    """

    def __init__(self, prompts: Sequence[int], choices: int = 1) -> None:
        self._prompts = tuple(prompts)
        self._choices = choices
        self._cached: dict[int, int] = {}
        self._completion = 0

    def count(self, index: int, event: Event) -> None:
        """Count ``event`` of the reply ``index``."""
        if not isinstance(event, TokenEvent):
            return
        self._completion += 1
        prompt = index // self._choices
        # Tokens that need no step tell nothing of the prompt.
        if event.rows:
            # What of the prompt was not computed for its first reply's first step was cached.
            cached = max(0, self._prompts[prompt] - event.prompt_computed)
            self._cached.setdefault(prompt, cached)

    def document(self) -> dict[str, Any]:
        """As OpenAI tells it."""
        prompt = sum(self._prompts)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": self._completion,
            "total_tokens": prompt + self._completion,
            "prompt_tokens_details": {"cached_tokens": sum(self._cached.values())},
        }
