"""Answers of ``/v1/messages``, whole and as a stream of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from split_client.tools.call import ToolCall
from split_server.compat.openai.replies import Delta, Reply
from split_server.compat.openai.usage import Usage

_REASONS = {
    "eos": "end_turn",
    "stop": "end_turn",
    "length": "max_tokens",
    "context": "model_context_window_exceeded",
    "cancelled": "end_turn",
}


class MessagesAnswer:
    """``id`` of the message; ``model``: its name."""

    def __init__(self, id_: str, model: str, usage: Usage) -> None:
        self._id, self._model, self._usage = id_, model, usage
        self._block = -1
        self._in_text = False
        self._last = Delta()

    def whole(self, replies: Sequence[Reply], usage: Usage) -> dict[str, Any]:
        """The answer that is not streamed."""
        [reply] = replies
        content: list[dict[str, Any]] = []
        if reply.text:
            content.append({"type": "text", "text": reply.text})
        content += [_tool_use(call) for call in reply.calls]
        end = Delta(finish=reply.finish, end=reply.end)
        return self._message(content, end) | {"usage": _usage(usage)}

    def opening(self, index: int) -> list[dict[str, Any]]:  # noqa: ARG002
        """The first event of a stream."""
        message = self._message([], Delta())
        message |= {"usage": _usage(self._usage) | {"output_tokens": 0}}
        return [{"type": "message_start", "message": message}]

    def chunks(self, index: int, delta: Delta) -> list[dict[str, Any]]:  # noqa: ARG002
        """The events that ``delta`` adds."""
        events: list[dict[str, Any]] = []
        if delta.text:
            events += [] if self._in_text else self._begin({"type": "text", "text": ""})
            self._in_text = True
            events.append(self._delta({"type": "text_delta", "text": delta.text}))
        for call in delta.calls:
            events += self._called(call)
        if delta.finish:
            self._last = delta
        return events

    def closing(self, usage: Usage) -> list[dict[str, Any]]:
        """The last events of a stream."""
        reason, stop = _reason(self._last)
        delta = {"stop_reason": reason, "stop_sequence": stop}
        return [
            *self._end_text(),
            {"type": "message_delta", "delta": delta, "usage": _usage(usage)},
            {"type": "message_stop"},
        ]

    def _called(self, call: ToolCall) -> list[dict[str, Any]]:
        block = _tool_use(call) | {"input": {}}
        begin = [*self._end_text(), *self._begin(block)]
        arguments = {"type": "input_json_delta", "partial_json": call.arguments}
        return [*begin, self._delta(arguments), self._stop()]

    def _begin(self, block: dict[str, Any]) -> list[dict[str, Any]]:
        self._block += 1
        return [{"type": "content_block_start", "index": self._block, "content_block": block}]

    def _delta(self, delta: dict[str, Any]) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": self._block, "delta": delta}

    def _stop(self) -> dict[str, Any]:
        return {"type": "content_block_stop", "index": self._block}

    def _end_text(self) -> list[dict[str, Any]]:
        was, self._in_text = self._in_text, False
        return [self._stop()] if was else []

    def _message(self, content: list[dict[str, Any]], end: Delta) -> dict[str, Any]:
        reason, stop = _reason(end)
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": content,
            "stop_reason": reason,
            "stop_sequence": stop,
        }


def _tool_use(call: ToolCall) -> dict[str, Any]:
    id_ = "toolu_" + call.id.removeprefix("call_")
    return {"type": "tool_use", "id": id_, "name": call.name, "input": call.values()}


def _reason(delta: Delta) -> tuple[str | None, str | None]:
    """Why the reply ended, and which stop text ended it."""
    if delta.end is None:
        return None, None
    if delta.finish == "tool_calls":
        return "tool_use", None
    if delta.end.stop:
        return "stop_sequence", delta.end.stop
    return _REASONS[delta.end.reason], None


def _usage(usage: Usage) -> dict[str, Any]:
    """What was cached is no part of the input tokens in this API."""
    told = usage.document()
    cached = told["prompt_tokens_details"]["cached_tokens"]
    return {
        "input_tokens": told["prompt_tokens"] - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": told["completion_tokens"],
        **usage.approximate(),
    }
