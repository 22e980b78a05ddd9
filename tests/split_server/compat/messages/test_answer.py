"""Replies encoded as messages of Anthropic's form."""

from __future__ import annotations

from typing import Any

import pytest

from split_client.generation.loop import Finished, FinishReason, TokenEvent, TokenTiming
from split_client.tools.call import ToolCall
from split_server.compat.messages.answer import MessagesAnswer
from split_server.compat.messages.errors import error_body, status_of
from split_server.compat.openai.errors import ApiError
from split_server.compat.openai.replies import Delta, Reply
from split_server.compat.openai.usage import Usage

CALL = ToolCall("call_1", "look", '{"at": 1}')


def counted() -> Usage:
    usage = Usage([9])
    usage.count(0, TokenEvent(1, "a", 1.0, 4, TokenTiming(0, 0, 0, 0), prompt_rows=4))
    return usage


def deltas(*parts: Any, reason: FinishReason = "eos", stop: str = "") -> list[Delta]:
    end = Finished(reason, "", stop)
    made = [Delta(calls=(part,)) if isinstance(part, ToolCall) else Delta(part) for part in parts]
    called = any(isinstance(part, ToolCall) for part in parts)
    return [*made, Delta(finish="tool_calls" if called else "stop", end=end)]


def whole(made: list[Delta]) -> dict[str, Any]:
    reply, usage = Reply(), counted()
    for delta in made:
        reply.add(delta)
    return MessagesAnswer("msg_1", "tiny", usage).whole([reply], usage)


def streamed(made: list[Delta]) -> list[dict[str, Any]]:
    usage = counted()
    answer = MessagesAnswer("msg_1", "tiny", usage)
    events = answer.opening(0)
    for delta in made:
        events += answer.chunks(0, delta)
    return events + answer.closing(usage)


def test_a_text_is_one_block() -> None:
    answer = whole(deltas("Hel", "lo"))
    assert answer["content"] == [{"type": "text", "text": "Hello"}]
    assert (answer["stop_reason"], answer["stop_sequence"]) == ("end_turn", None)
    assert answer["usage"] == {
        "input_tokens": 4,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 5,
        "output_tokens": 1,
    }


@pytest.mark.parametrize(
    ("reason", "stop", "told"),
    [
        ("eos", "", "end_turn"),
        ("stop", "x", "stop_sequence"),
        ("stop", "", "end_turn"),
        ("length", "", "max_tokens"),
        ("context", "", "model_context_window_exceeded"),
    ],
)
def test_the_reason_is_told_in_the_words_of_the_api(
    reason: FinishReason, stop: str, told: str
) -> None:
    answer = whole(deltas("a", reason=reason, stop=stop))
    assert (answer["stop_reason"], answer["stop_sequence"]) == (told, stop or None)


def test_a_call_is_a_block_with_its_input() -> None:
    answer = whole(deltas("I look.", CALL))
    assert answer["stop_reason"] == "tool_use"
    assert answer["content"][1] == {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "look",
        "input": {"at": 1},
    }


def test_a_stream_opens_and_closes_each_block_once() -> None:
    events = streamed(deltas("I ", "look.", CALL, CALL, "Done.", stop="x", reason="stop"))
    assert [event["type"] for event in events] == [
        "message_start",
        *("content_block_start", "content_block_delta", "content_block_delta"),
        "content_block_stop",
        *(2 * ("content_block_start", "content_block_delta", "content_block_stop")),
        *("content_block_start", "content_block_delta", "content_block_stop"),
        "message_delta",
        "message_stop",
    ]
    starts = [event for event in events if event["type"] == "content_block_start"]
    assert [event["index"] for event in starts] == [0, 1, 2, 3]
    assert events[0]["message"]["content"] == []
    assert events[0]["message"]["usage"]["cache_read_input_tokens"] == 5
    assert events[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert events[-2]["usage"]["output_tokens"] == 1


def test_an_empty_reply_has_no_block() -> None:
    assert whole(deltas())["content"] == []
    kinds = [event["type"] for event in streamed(deltas())]
    assert kinds == ["message_start", "message_delta", "message_stop"]


@pytest.mark.parametrize(
    ("status", "told", "kind"),
    [
        (400, 400, "invalid_request_error"),
        (404, 404, "not_found_error"),
        (408, 408, "invalid_request_error"),
        (413, 413, "request_too_large"),
        (503, 529, "overloaded_error"),
        (500, 500, "api_error"),
    ],
)
def test_an_error_has_the_type_of_its_status(status: int, told: int, kind: str) -> None:
    error = ApiError(status, "Why.", "server_error", "a_code", "model", details={"more": 1})
    assert status_of(error) == told
    own = {"type": kind, "message": "Why.", "code": "a_code", "param": "model", "more": 1}
    assert error_body(error) == {"type": "error", "error": own}
