"""Fields beyond OpenAI's own that change a reply, and forced calls whatever a schema says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from split_server.checkpoint.folder import EMBEDDED
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import (
    CHAT,
    COMPLETIONS,
    HELLO,
    chat,
    completion,
    post,
    refused,
    stream,
)

LOOSE: list[dict[str, Any] | None] = [
    None,
    {},
    {"type": "object", "properties": {}},
    {"type": "object"},
    {"properties": {"place": {"type": "string", "maxLength": 8}}},
    {"type": "object", "properties": {"place": {"type": "string", "maxLength": 8}}},
]


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(EMBEDDED) as running:
        yield running


def text_of(answer: dict[str, Any]) -> str:
    choice = answer["choices"][0]
    return str(choice["text"] if "text" in choice else choice["message"]["content"])


def function(parameters: dict[str, Any] | None) -> dict[str, Any]:
    own = {} if parameters is None else {"parameters": parameters}
    return {"name": "look", "description": "Looks.", **own}


@pytest.mark.parametrize("parameters", LOOSE, ids=str)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_forced_call_has_an_object_of_known_names(
    server: RunningServer, parameters: dict[str, Any] | None, streamed: bool
) -> None:
    tool = {"type": "function", "function": function(parameters)}
    asked: dict[str, Any] = {"messages": HELLO, "tools": [tool], "tool_choice": "any"}
    asked |= {"max_tokens": 60, "temperature": 1, "seed": 3}
    if streamed:
        deltas = [part["choices"][0]["delta"] for part in stream(server, CHAT, **asked)]
        calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
        arguments = "".join(call["function"]["arguments"] for call in calls)
    else:
        choice = chat(server, **asked)["choices"][0]
        assert choice["finish_reason"] == "tool_calls"
        (call,) = choice["message"]["tool_calls"]
        arguments = call["function"]["arguments"]
    values = json.loads(arguments)
    assert isinstance(values, dict)
    assert values.keys() <= {"place"}


@pytest.mark.parametrize("streamed", [False, True])
def test_functions_are_called_in_the_form_that_they_have(
    server: RunningServer, streamed: bool
) -> None:
    own = function({"type": "object", "properties": {}})
    asked = {"messages": HELLO, "functions": [own], "function_call": {"name": "look"}}
    if streamed:
        told = [part["choices"][0] for part in stream(server, CHAT, **asked)]
        calls = [
            part["delta"]["function_call"] for part in told if "function_call" in part["delta"]
        ]
        reason = told[-1]["finish_reason"]
    else:
        choice = chat(server, **asked)["choices"][0]
        calls, reason = [choice["message"]["function_call"]], choice["finish_reason"]
        assert "tool_calls" not in choice["message"]
    assert calls == [{"name": "look", "arguments": "{}"}]
    assert reason == "function_call"


def test_minus_one_as_a_seed_is_another_reply_each_time(server: RunningServer) -> None:
    asked = {"prompt": "The", "max_tokens": 24, "temperature": 1.5}
    assert len({text_of(completion(server, **asked, seed=-1)) for _ in range(4)}) > 1
    assert len({text_of(completion(server, **asked, seed=7)) for _ in range(3)}) == 1


def test_minus_one_as_a_limit_is_as_much_as_fits(server: RunningServer) -> None:
    assert chat(server, temperature=0, max_tokens=-1)["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("path", "values"), [(CHAT, {"messages": HELLO}), (COMPLETIONS, {"prompt": "What is"})]
)
def test_a_reply_has_the_least_tokens_that_were_asked_for(
    server: RunningServer, path: str, values: dict[str, Any]
) -> None:
    asked = {**values, "temperature": 0, "max_tokens": 400}
    usual = post(server, path, **asked).json()
    least = usual["usage"]["completion_tokens"] + 40
    longer = post(server, path, **asked, min_tokens=least).json()
    assert text_of(longer).startswith(text_of(usual))
    assert longer["usage"]["completion_tokens"] > least


def test_a_reply_may_go_on_beyond_the_models_own_end(server: RunningServer) -> None:
    asked: dict[str, Any] = {"temperature": 0, "max_tokens": 200}
    usual, on = chat(server, **asked), chat(server, **asked, ignore_eos=True)
    assert usual["choices"][0]["finish_reason"] == "stop"
    assert on["choices"][0]["finish_reason"] == "length"
    assert on["usage"]["completion_tokens"] == 200


def test_further_tokens_may_end_a_reply(server: RunningServer) -> None:
    asked: dict[str, Any] = {"temperature": 0, "max_tokens": 24, "logprobs": True}
    content = chat(server, **asked)["choices"][0]["logprobs"]["content"]
    third = post(server, "/tokenize", content=content[2]["token"]).json()["tokens"]
    assert len(third) == 1
    cut = chat(server, **asked, stop_token_ids=third)["choices"][0]
    at = next(at for at, one in enumerate(content) if one["token"] == content[2]["token"])
    told = [one["token"] for one in cut["logprobs"]["content"]]
    assert told == [one["token"] for one in content[:at]]
    assert cut["finish_reason"] == "stop"


def test_the_last_message_may_be_continued(server: RunningServer) -> None:
    whole = text_of(chat(server, temperature=0, max_tokens=40))
    half = whole[: whole.index(" ", len(whole) // 2)]
    messages = [*HELLO, {"role": "assistant", "content": half}]
    asked: dict[str, Any] = {"messages": messages, "temperature": 0, "max_tokens": 40}
    on = text_of(chat(server, **asked, continue_final_message=True))
    assert (half + on).startswith(whole)
    told = post(server, "/tokenize", messages=messages, continue_final_message=True).json()
    text = post(server, "/detokenize", tokens=told["tokens"]).json()["prompt"]
    assert text.endswith(half)


def test_variables_reach_the_template_and_none_takes_the_place_of_its_own(
    server: RunningServer,
) -> None:
    usual = post(server, "/tokenize", messages=HELLO).json()["tokens"]
    kwargs = {"enable_thinking": False, "bos_token": "x"}
    assert post(server, "/tokenize", messages=HELLO, chat_template_kwargs=kwargs).json()[
        "tokens"
    ] == (usual)


@pytest.mark.parametrize(
    "form",
    [
        {"structured_outputs": {"choice": ["north", "south"]}},
        {"structured_outputs": {"regex": "(north|south)"}},
        {"structured_outputs": {"grammar": 'root ::= "north" | "south"'}},
        {"grammar": 'root ::= "north" | "south"', "json_schema": {}},
    ],
    ids=str,
)
def test_a_form_is_followed_by_whatever_name_it_has(
    server: RunningServer, form: dict[str, Any]
) -> None:
    asked = {**form, "max_tokens": 20, "temperature": 1.5}
    assert text_of(chat(server, **asked)) in ("north", "south")
    assert text_of(completion(server, prompt="x", **asked)) in ("north", "south")


SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "form",
    [
        {"structured_outputs": {"json": SCHEMA}},
        {"structured_outputs": {"json": json.dumps(SCHEMA)}},
        {"response_format": {"type": "json_object", "schema": SCHEMA}},
        {"response_format": {"type": "json_schema", "schema": SCHEMA}},
        {"json_schema": SCHEMA},
    ],
    ids=str,
)
def test_a_schema_is_followed_by_whatever_name_it_has(
    server: RunningServer, form: dict[str, Any]
) -> None:
    assert json.loads(text_of(chat(server, **form, max_tokens=20))).keys() == {"n"}


@pytest.mark.parametrize(
    "form",
    [{"response_format": {"type": "json_object"}}, {"structured_outputs": {"json_object": True}}],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_json_without_a_schema_is_any_object_and_never_in_a_fence(
    server: RunningServer, form: dict[str, Any], seed: int
) -> None:
    asked = "Answer with JSON in a ```json fence: what is split inference?"
    messages = [{"role": "user", "content": asked}]
    text = text_of(chat(server, messages=messages, **form, seed=seed, temperature=1, max_tokens=48))
    assert text.startswith("{")
    assert isinstance(json.loads(text), dict)


def test_more_stops_than_openai_has_end_a_reply(server: RunningServer) -> None:
    whole = text_of(chat(server, temperature=0, max_tokens=24))
    stops = [*(f"<{at}>" for at in range(60)), whole[10:14]]
    assert text_of(chat(server, temperature=0, max_tokens=24, stop=stops)) == whole[:10]


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"prompt_logprobs": 0}, "prompt_logprobs"),
        ({"bad_words": ["x"]}, "bad_words"),
        ({"stream_options": {"include_usage": True, "other": 1}}, "stream_options.other"),
        ({"response_format": {"type": "json_object", "other": 1}}, "response_format.other"),
        ({"structured_outputs": {"structural_tag": "x"}}, "structured_outputs.structural_tag"),
        ({"tfs": 0.5}, "tfs"),
    ],
    ids=str,
)
def test_what_would_change_a_reply_and_is_not_here_is_refused_by_name(
    server: RunningServer, values: dict[str, Any], param: str
) -> None:
    error = refused(post(server, CHAT, messages=HELLO, **values), 400)
    assert (error["param"], error["code"]) == (param, "unsupported_parameter")
    assert param in error["message"]
