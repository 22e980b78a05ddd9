"""Replies encoded as responses."""

from __future__ import annotations

from typing import Any

from split_client.generation.loop import Finished, TokenEvent, TokenTiming
from split_client.tools.call import ToolCall
from split_server.compat.openai.errors import ApiError
from split_server.compat.openai.replies import Delta, Reply
from split_server.compat.openai.token_texts import ScoredToken
from split_server.compat.openai.usage import Usage
from split_server.compat.responses.answer import ResponsesAnswer
from split_server.compat.responses.documents import ResponseHead, new_response_id

CALL = ToolCall("call_1", "look", '{"at": 1}')
END = Delta(finish="stop", end=Finished("eos", ""))
CUT = Delta(finish="length", end=Finished("length", ""))
ECHO = {"metadata": {"a": "b"}}


def answer(finished: list[dict[str, Any]] | None = None) -> ResponsesAnswer:
    head = ResponseHead("resp_1", 1_700_000_000, "tiny", True, ECHO)
    told = [] if finished is None else finished
    return ResponsesAnswer(head, told.append, lambda: 1_700_000_009.5)


def counted() -> Usage:
    usage = Usage([9])
    usage.count(0, TokenEvent(1, "a", 1.0, 4, TokenTiming(0, 0, 0, 0), prompt_rows=4))
    return usage


def whole(*deltas: Delta, finished: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    reply = Reply()
    for delta in deltas:
        reply.add(delta)
    return answer(finished).whole([reply], counted())


def streamed(*deltas: Delta) -> list[dict[str, Any]]:
    made = answer()
    events = made.opening(0)
    for delta in deltas:
        events += made.chunks(0, delta)
    return events + made.closing(counted())


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


def test_a_text_is_a_message() -> None:
    finished: list[dict[str, Any]] = []
    response = whole(Delta("Hel"), Delta("lo"), END, finished=finished)
    (item,) = response["output"]
    assert (item["type"], item["role"], item["status"]) == ("message", "assistant", "completed")
    assert item["content"][0]["text"] == "Hello"
    assert (response["status"], response["completed_at"]) == ("completed", 1_700_000_009)
    assert (response["store"], response["metadata"]) == (True, {"a": "b"})
    assert response["usage"] == {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 10,
    }
    assert finished == [response]


def test_a_reply_that_was_cut_is_incomplete() -> None:
    response = whole(Delta("Hel"), CUT)
    assert response["status"] == response["output"][0]["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert streamed(Delta("Hel"), CUT)[-1]["type"] == "response.incomplete"


def test_calls_are_items_behind_the_text() -> None:
    end = Delta(finish="tool_calls", end=Finished("eos", ""))
    message, call = whole(Delta("I look."), Delta(calls=(CALL,)), end)["output"]
    assert message["type"] == "message"
    assert (call["type"], call["call_id"], call["name"]) == ("function_call", "call_1", "look")
    assert call["arguments"] == '{"at": 1}'
    assert [item["type"] for item in whole(Delta(calls=(CALL,)), end)["output"]] == [
        "function_call"
    ]


def test_a_stream_tells_everything_in_order_and_once() -> None:
    end = Delta(finish="tool_calls", end=Finished("eos", ""))
    events = streamed(Delta("I "), Delta("look."), Delta(calls=(CALL,)), end)
    assert kinds(events) == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event.get("output_index") for event in events[2:-1]] == [0] * 7 + [1] * 4
    assert events[6]["text"] == "I look."
    items = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert events[-1]["response"]["output"] == items
    added = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    assert [item["id"] for item in added] == [item["id"] for item in items]


def test_an_empty_reply_is_an_empty_message() -> None:
    events = streamed(END)
    assert kinds(events)[2:] == [
        "output_item.added",
        "content_part.added",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert whole(END)["output"][0]["content"][0]["text"] == ""


def test_logprobs_come_with_the_text() -> None:
    token = ScoredToken("a", 0, -0.5, (("a", -0.5), ("b", -1.0)))
    events = streamed(Delta("a", tokens=(token,)), END)
    (delta,) = [event for event in events if event["type"].endswith("text.delta")]
    assert delta["logprobs"][0]["top_logprobs"][1]["token"] == "b"
    part = events[-1]["response"]["output"][0]["content"][0]
    assert part["logprobs"] == delta["logprobs"]


def test_a_failure_is_the_end_of_a_stream() -> None:
    made = answer()
    begun = [*made.opening(0), *made.chunks(0, Delta("Hel"))]
    (failed,) = made.failed(ApiError(503, "Full.", "server_error", "overloaded"))
    assert failed["type"] == "response.failed"
    assert failed["sequence_number"] == len(begun)
    assert failed["response"]["status"] == "failed"
    assert failed["response"]["error"] == {"code": "overloaded", "message": "Full."}


def test_an_id_has_128_bits() -> None:
    assert len(new_response_id().removeprefix("resp_")) == 32
    assert new_response_id() != new_response_id()
