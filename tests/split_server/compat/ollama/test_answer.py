"""Replies encoded as answers of Ollama's form."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from split_client.generation.loop import Finished, TokenEvent, TokenTiming
from split_client.tools.call import ToolCall
from split_server.compat.ollama.answer import Kind, OllamaAnswer
from split_server.compat.openai.replies import Delta, Reply
from split_server.compat.openai.token_texts import ScoredToken
from split_server.compat.openai.usage import Usage

BEGUN = 1_700_000_000.0
CALL = ToolCall("call_1", "look", '{"at": 1}')
END = Delta(finish="stop", end=Finished("eos", ""))
TOKEN = ScoredToken("a", 0, -0.5, (("a", -0.5), ("b", -1.0)))


def answer(kind: Kind = "chat", scored: bool = False) -> OllamaAnswer:
    clock = count(int(BEGUN) + 1)
    return OllamaAnswer(kind, "tiny:latest", scored, BEGUN, lambda: float(next(clock)))


def counted() -> Usage:
    usage = Usage([9])
    for seconds in (0.5, 0.25, 0.125):
        usage.count(0, TokenEvent(1, "a", 1.0, 1, TokenTiming(seconds, 0, 0, 0), prompt_rows=1))
    return usage


def streamed(made: OllamaAnswer, *deltas: Delta) -> list[dict[str, Any]]:
    lines = made.opening(0)
    for delta in deltas:
        lines += made.chunks(0, delta)
    return lines + made.closing(counted())


def test_a_chat_is_lines_with_messages_and_one_with_counts() -> None:
    first, second, last = streamed(answer(), Delta("Hel"), Delta("lo"), END)
    assert first == {
        "model": "tiny:latest",
        "created_at": "2023-11-14T22:13:21Z",
        "message": {"role": "assistant", "content": "Hel"},
        "done": False,
    }
    assert second["message"]["content"] == "lo"
    assert last["message"]["content"] == ""
    assert (last["done"], last["done_reason"]) == (True, "stop")
    assert (last["prompt_eval_count"], last["eval_count"]) == (9, 3)
    assert (last["prompt_eval_duration"], last["eval_duration"]) == (500_000_000, 375_000_000)
    assert last["total_duration"] == 4_000_000_000
    assert last["load_duration"] == 0


@pytest.mark.parametrize(("kind", "where"), [("chat", "message"), ("generate", "response")])
def test_a_whole_answer_is_one_line(kind: Kind, where: str) -> None:
    reply = Reply()
    for delta in (Delta("Hel"), Delta("lo"), Delta(finish="length", end=Finished("length", ""))):
        reply.add(delta)
    line = answer(kind).whole([reply], counted())
    text = line[where] if kind == "generate" else line[where]["content"]
    assert text == "Hello"
    assert (line["done"], line["done_reason"], line["eval_count"]) == (True, "length", 3)


def test_a_call_has_its_arguments_as_values() -> None:
    end = Delta(finish="tool_calls", end=Finished("eos", ""))
    line, last = streamed(answer(), Delta(calls=(CALL,)), end)
    (call,) = line["message"]["tool_calls"]
    assert call["function"] == {"name": "look", "arguments": {"at": 1}}
    assert last["done_reason"] == "stop"


def test_logprobs_come_with_their_tokens() -> None:
    line, _ = streamed(answer("generate", scored=True), Delta("a", tokens=(TOKEN,)), END)
    (scored,) = line["logprobs"]
    assert (scored["token"], scored["logprob"], scored["bytes"]) == ("a", -0.5, [97])
    assert [each["token"] for each in scored["top_logprobs"]] == ["a", "b"]


@pytest.mark.parametrize(("unload", "reason"), [(False, "load"), (True, "unload")])
def test_a_model_that_is_to_be_loaded_is_there(unload: bool, reason: str) -> None:
    line = answer().loaded(unload=unload)
    assert (line["done"], line["done_reason"]) == (True, reason)
