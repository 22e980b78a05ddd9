"""Events of the decode loop, read and encoded as answers."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from split_client.generation.loop import Event, Finished, FinishReason, TokenEvent, TokenTiming
from split_client.generation.sampling.logprobs import TokenLogprobs
from split_server.compat.openai.answer_head import AnswerHead
from split_server.compat.openai.chat_answer import ChatAnswer
from split_server.compat.openai.completion_answer import CompletionAnswer
from split_server.compat.openai.replies import Delta, Reply, ReplyReader
from split_server.compat.openai.token_texts import ScoredToken
from split_server.compat.openai.tool_calls import FreeReader, PlainReader, ToolCall
from split_server.compat.openai.usage import Usage
from tests.split_server.compat.openai.requests import SERVED

HEAD = AnswerHead("chatcmpl-1", 1_700_000_001, SERVED)
TIMING = TokenTiming(0.0, 0.0, 0.0, 0.0)
END = 2


def token(number: int, text: str, rows: int = 1) -> TokenEvent:
    likely = TokenLogprobs(-0.5, ())
    return TokenEvent(number, text, 1.0, rows, TIMING, None, likely, prompt_rows=rows)


def read(reader: ReplyReader, *events: Event) -> Reply:
    reply = Reply()
    for event in events:
        reply.add(reader.push(event))
    return reply


def plain() -> ReplyReader:
    return ReplyReader(PlainReader(), frozenset({END}), None)


@pytest.mark.parametrize(
    ("reason", "told"),
    [("eos", "stop"), ("stop", "stop"), ("length", "length"), ("context", "length")],
)
def test_why_a_reply_ended_is_told_in_openais_words(reason: FinishReason, told: str) -> None:
    reply = read(plain(), token(5, "a"), token(6, "b"), Finished(reason, "c"))
    assert (reply.text, reply.finish) == ("abc", told)


def test_a_reply_that_calls_a_tool_ends_for_that() -> None:
    ids = count()
    reader = FreeReader(frozenset({"f"}), 2, lambda: f"call_{next(ids)}")
    texts = ["Well. ", "<tool_call>", '{"name": "f", "arguments": {"a": "ü"}}', "</tool_call>"]
    events = [token(5, text) for text in texts]
    reply = read(ReplyReader(reader, frozenset({END}), None), *events, Finished("eos", ""))
    assert reply.calls == [ToolCall("call_0", "f", '{"a": "ü"}')]
    assert (reply.text, reply.finish) == ("Well. ", "tool_calls")


def test_a_prompt_counts_once_and_what_was_not_sent_was_cached() -> None:
    usage = Usage([10, 4], choices=2)
    usage.count(0, token(5, "a", rows=3))
    usage.count(0, token(6, "b"))
    usage.count(0, Finished("length", ""))
    usage.count(1, token(5, "a", rows=1))
    usage.count(2, token(5, "a", rows=4))
    assert usage.document() == {
        "prompt_tokens": 14,
        "completion_tokens": 4,
        "total_tokens": 18,
        "prompt_tokens_details": {"cached_tokens": 7},
    }


def scored(text: str) -> ScoredToken:
    return ScoredToken(text, 0, -0.5, ((text, -0.5), ("x", -2.0)))


def test_chat_chunks_put_together_are_the_whole_answer() -> None:
    answer, reply = ChatAnswer(HEAD, True, False), Reply()
    deltas = [
        Delta("Hel", (), (scored("Hel"),)),
        Delta(),
        Delta(
            "lo", (ToolCall("call_1", "f", "{}"), ToolCall("call_2", "g", "[]")), (scored("lo"),)
        ),
        Delta(finish="tool_calls"),
    ]
    chunks = answer.opening(0)
    for delta in deltas:
        reply.add(delta)
        chunks += answer.chunks(0, delta)
    choices = [chunk["choices"][0] for chunk in chunks]
    (whole,) = answer.whole([reply], Usage([3]))["choices"]
    assert "".join(c["delta"].get("content", "") for c in choices) == whole["message"]["content"]
    calls = [call for c in choices for call in c["delta"].get("tool_calls", [])]
    assert [call["index"] for call in calls] == [0, 1]
    assert [_without_index(call) for call in calls] == whole["message"]["tool_calls"]
    told = [entry for c in choices if c["logprobs"] for entry in c["logprobs"]["content"]]
    assert told == whole["logprobs"]["content"]
    assert [c["finish_reason"] for c in choices if c["finish_reason"]] == ["tool_calls"]
    assert choices[-1]["delta"] == {}


def _without_index(call: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in call.items() if key != "index"}


def test_a_token_that_is_a_part_of_a_character_has_no_bytes() -> None:
    answer = ChatAnswer(HEAD, True, False)
    chunks = answer.chunks(0, Delta("", (), (scored("\ufffd"), scored("ü"))))
    content = chunks[0]["choices"][0]["logprobs"]["content"]
    assert [entry["bytes"] for entry in content] == [None, [0xC3, 0xBC]]


def test_completion_chunks_put_together_are_the_whole_answer() -> None:
    answer, reply = CompletionAnswer(HEAD, True, False, ["Say: "]), Reply()
    deltas = [Delta("Hel", (), (scored("Hel"),)), Delta(), Delta("lo", (), (), "stop")]
    chunks = answer.opening(0)
    for delta in deltas:
        reply.add(delta)
        chunks += answer.chunks(0, delta)
    (whole,) = answer.whole([reply], Usage([3]))["choices"]
    assert "".join(c["choices"][0]["text"] for c in chunks) == whole["text"] == "Say: Hello"
    assert chunks[-1]["choices"][0]["finish_reason"] == whole["finish_reason"] == "stop"
    assert whole["logprobs"]["top_logprobs"] == [{"Hel": -0.5, "x": -2.0}]


@pytest.mark.parametrize("answer", [ChatAnswer, CompletionAnswer])
def test_usage_is_the_last_chunk_where_it_was_asked_for(answer: Any) -> None:
    options = [["a"]] if answer is CompletionAnswer else []
    usage = Usage([3])
    asked, silent = answer(HEAD, False, True, *options), answer(HEAD, False, False, *options)
    assert asked.opening(0)[0]["usage"] is None
    assert asked.closing(usage)[0]["usage"] == usage.document()
    assert asked.closing(usage)[0]["choices"] == []
    assert silent.closing(usage) == []
