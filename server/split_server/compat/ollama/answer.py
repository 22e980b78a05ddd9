"""Answers of ``/api/chat`` and ``/api/generate``, whole and in lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from split_client.tools.call import ToolCall
from split_server.compat.openai.replies import Delta, Reply
from split_server.compat.openai.token_texts import ScoredToken
from split_server.compat.openai.usage import Usage

_NANOSECONDS = 1e9
# What a token that is only a part of a character looks like.
_PART = "\ufffd"
# Which kind of answer: with a ``message``, or a ``response``.
Kind: TypeAlias = Literal["chat", "generate"]


class OllamaAnswer:
    """``model``: as it was asked for; ``scored``: whether logprobs were asked for; ``clock``: Unix
    time in seconds, ``begun``: when the request came.
    """

    def __init__(
        self, kind: Kind, model: str, scored: bool, begun: float, clock: Callable[[], float]
    ) -> None:
        self._kind, self._model, self._scored = kind, model, scored
        self._begun, self._clock = begun, clock
        self._finish = "stop"

    def whole(self, replies: Sequence[Reply], usage: Usage) -> dict[str, Any]:
        """The answer that is not streamed."""
        [reply] = replies
        self._finish = reply.finish
        line = self._line(reply.text, tuple(reply.calls), tuple(reply.tokens))
        return line | self._last(usage)

    def opening(self, index: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """Nothing comes before the first text."""
        return []

    def chunks(self, index: int, delta: Delta) -> list[dict[str, Any]]:  # noqa: ARG002
        """The lines that ``delta`` adds."""
        if delta.finish:
            self._finish = delta.finish
        if not (delta.text or delta.tokens or delta.calls):
            return []
        return [self._line(delta.text, delta.calls, delta.tokens)]

    def closing(self, usage: Usage) -> list[dict[str, Any]]:
        """The last line of a stream."""
        return [self._line("", (), ()) | self._last(usage)]

    def loaded(self, *, unload: bool) -> dict[str, Any]:
        """The answer to a request without a prompt, which has a model loaded in Ollama's API."""
        return self._line("", (), ()) | {
            "done": True,
            "done_reason": "unload" if unload else "load",
        }

    def _line(
        self, text: str, calls: Sequence[ToolCall], tokens: Sequence[ScoredToken]
    ) -> dict[str, Any]:
        line: dict[str, Any] = {"model": self._model, "created_at": stamp(self._clock())}
        if self._kind == "generate":
            line["response"] = text
        else:
            line["message"] = {"role": "assistant", "content": text}
            if calls:
                line["message"]["tool_calls"] = [_call(call) for call in calls]
        if tokens or (self._scored and text):
            line["logprobs"] = [_scored(token) for token in tokens]
        return line | {"done": False}

    def _last(self, usage: Usage) -> dict[str, Any]:
        told = usage.document()
        return {
            "done": True,
            "done_reason": "length" if self._finish == "length" else "stop",
            "total_duration": _nanoseconds(self._clock() - self._begun),
            "load_duration": 0,
            "prompt_eval_count": told["prompt_tokens"],
            "prompt_eval_duration": _nanoseconds(usage.prompt_seconds),
            "eval_count": told["completion_tokens"],
            "eval_duration": _nanoseconds(usage.reply_seconds),
            **usage.approximate(),
        }


def stamp(seconds: float) -> str:
    """A time since the epoch as RFC 3339 writes it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _nanoseconds(seconds: float) -> int:
    return max(0, round(seconds * _NANOSECONDS))


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "function": {"name": call.name, "arguments": call.values()}}


def _scored(token: ScoredToken) -> dict[str, Any]:
    return _logprob(token.text, token.logprob) | {
        "top_logprobs": [_logprob(text, logprob) for text, logprob in token.top]
    }


def _logprob(text: str, logprob: float | None) -> dict[str, Any]:
    encoded = None if _PART in text else list(text.encode())
    return {"token": text, "logprob": logprob, "bytes": encoded}
