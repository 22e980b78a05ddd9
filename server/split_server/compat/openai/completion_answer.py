"""Answers of ``/v1/completions``, whole and in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from split_server.compat.openai.answer_head import AnswerHead
from split_server.compat.openai.replies import Delta, Reply
from split_server.compat.openai.token_texts import ScoredToken
from split_server.compat.openai.usage import Usage

_KIND = "text_completion"


class CompletionAnswer:
    """``prefixes``: what the text of each choice begins with, its prompt where that is echoed;
    ``prompts``: the tokens of these, where they are told too.
    """

    def __init__(
        self,
        head: AnswerHead,
        scored: bool,
        include_usage: bool,
        prefixes: Sequence[str],
        prompts: Sequence[Sequence[ScoredToken]] = (),
    ) -> None:
        self._head = head
        self._scored = scored
        self._include_usage = include_usage
        self._prefixes = tuple(prefixes)
        self._prompts = tuple(prompts) or ((),) * len(prefixes)

    def whole(self, replies: Sequence[Reply], usage: Usage) -> dict[str, Any]:
        """The answer that is not streamed."""
        choices = [
            self._choice(
                index,
                self._prefixes[index] + reply.text,
                [*self._prompts[index], *self._behind(index, reply.tokens)],
                reply.finish,
            )
            for index, reply in enumerate(replies)
        ]
        return self._head.document(_KIND, choices) | {"usage": usage.document()}

    def opening(self, index: int) -> list[dict[str, Any]]:
        """The first chunks of a choice of a stream."""
        opening = Delta(self._prefixes[index], tokens=tuple(self._prompts[index]))
        return [self._chunk(index, opening)] if opening else []

    def chunks(self, index: int, delta: Delta) -> list[dict[str, Any]]:
        """The chunks that ``delta`` adds to a choice."""
        told = replace(delta, tokens=self._behind(index, delta.tokens))
        return [self._chunk(index, told)] if delta else []

    def closing(self, usage: Usage) -> list[dict[str, Any]]:
        """The last chunks of a stream."""
        if not self._include_usage:
            return []
        return [self._head.document(_KIND, []) | {"usage": usage.document()}]

    def _behind(self, index: int, tokens: Sequence[ScoredToken]) -> tuple[ScoredToken, ...]:
        """The reply's ``tokens``, where they stand in the whole text."""
        before = len(self._prefixes[index])
        return tuple(replace(token, offset=before + token.offset) for token in tokens)

    def _chunk(self, index: int, delta: Delta) -> dict[str, Any]:
        choice = self._choice(index, delta.text, delta.tokens, delta.finish)
        chunk = self._head.document(_KIND, [choice])
        return chunk | {"usage": None} if self._include_usage else chunk

    def _choice(
        self, index: int, text: str, tokens: Sequence[ScoredToken], finish: str | None
    ) -> dict[str, Any]:
        return {
            "index": index,
            "text": text,
            "logprobs": _logprobs(tokens) if self._scored else None,
            "finish_reason": finish,
        }


def _logprobs(tokens: Sequence[ScoredToken]) -> dict[str, Any]:
    return {
        "tokens": [token.text for token in tokens],
        "token_logprobs": [token.logprob for token in tokens],
        "top_logprobs": [_top(token) for token in tokens],
        "text_offset": [token.offset for token in tokens],
    }


def _top(token: ScoredToken) -> dict[str, float] | None:
    """By text, the chosen token's included; of several tokens of one text, the likeliest counts."""
    if token.logprob is None:
        return None
    top = {token.text: token.logprob}
    for text, logprob in token.top:
        top[text] = max(logprob, top.get(text, logprob))
    return top
