"""Answers of ``/v1/chat/completions``, whole and in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from split_client.tools.call import ToolCall
from split_server.compat.openai.answer_head import AnswerHead
from split_server.compat.openai.replies import Delta, Reply
from split_server.compat.openai.token_texts import ScoredToken
from split_server.compat.openai.usage import Usage

# What a token that is only a part of a character looks like.
_PART = "\ufffd"


class ChatAnswer:
    """``scored``: whether logprobs were asked for; ``include_usage``: as a stream's last chunk;
    ``older``: a call is told as one of a function.
    """

    def __init__(
        self, head: AnswerHead, scored: bool, include_usage: bool, older: bool = False
    ) -> None:
        self._head, self._older = head, older
        self._scored = scored
        self._include_usage = include_usage
        self._calls: dict[int, int] = {}

    def whole(self, replies: Sequence[Reply], usage: Usage) -> dict[str, Any]:
        """The answer that is not streamed."""
        choices = [self._choice(index, reply) for index, reply in enumerate(replies)]
        return self._head.document("chat.completion", choices) | {"usage": usage.document()}

    def opening(self, index: int) -> list[dict[str, Any]]:
        """The first chunks of a choice of a stream."""
        return [self._chunk(index, {"role": "assistant", "content": ""}, Delta())]

    def chunks(self, index: int, delta: Delta) -> list[dict[str, Any]]:
        """The chunks that ``delta`` adds to a choice."""
        chunks = []
        if delta.text or delta.tokens:
            chunks.append(self._chunk(index, {"content": delta.text}, Delta(tokens=delta.tokens)))
        for call in delta.calls:
            number = self._calls[index] = self._calls.get(index, -1) + 1
            told = self._calls_of([call], {"index": number})
            chunks.append(self._chunk(index, told, Delta()))
        if delta.finish:
            chunks.append(self._chunk(index, {}, Delta(finish=self._reason(delta.finish))))
        return chunks

    def closing(self, usage: Usage) -> list[dict[str, Any]]:
        """The last chunks of a stream."""
        if not self._include_usage:
            return []
        last = self._head.document("chat.completion.chunk", [])
        return [last | {"usage": usage.document()}]

    def _chunk(self, index: int, fields: dict[str, Any], delta: Delta) -> dict[str, Any]:
        choice = {
            "index": index,
            "delta": fields,
            "logprobs": _logprobs(delta.tokens) if delta.tokens else None,
            "finish_reason": delta.finish,
        }
        chunk = self._head.document("chat.completion.chunk", [choice])
        return chunk | {"usage": None} if self._include_usage else chunk

    def _choice(self, index: int, reply: Reply) -> dict[str, Any]:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": reply.text if reply.text or not reply.calls else None,
            "refusal": None,
        }
        if reply.calls:
            message |= self._calls_of(reply.calls)
        return {
            "index": index,
            "message": message,
            "logprobs": _logprobs(reply.tokens) if self._scored else None,
            "finish_reason": self._reason(reply.finish),
        }

    def _calls_of(
        self, calls: Sequence[ToolCall], more: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """The field that tells ``calls``; each has ``more``. Of functions there is one."""
        told = [_call(call) for call in calls]
        if self._older:
            return {"function_call": told[0]["function"]}
        return {"tool_calls": [(more or {}) | call for call in told]}

    def _reason(self, finish: str) -> str:
        return "function_call" if self._older and finish == "tool_calls" else finish


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _logprobs(tokens: Sequence[ScoredToken]) -> dict[str, Any]:
    content = [
        _scored(token.text, token.logprob)
        | {"top_logprobs": [_scored(text, logprob) for text, logprob in token.top]}
        for token in tokens
    ]
    return {"content": content, "refusal": None}


def _scored(text: str, logprob: float | None) -> dict[str, Any]:
    """Bytes are those of the text; a token that is a part of a character has none."""
    encoded = None if _PART in text else list(text.encode())
    return {"token": text, "logprob": logprob, "bytes": encoded}
