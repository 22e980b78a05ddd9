"""Replies of a form, from a model with random weights, which has none by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import (
    CHAT,
    HELLO,
    chat,
    completion,
    post,
    refused,
    stream,
)
from tests.split_server.http.taught import TOOL

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
        "inner": {"$ref": "#/$defs/point"},
    },
    "required": ["name", "tags", "inner"],
    "additionalProperties": False,
    "$defs": {
        "point": {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": ["number", "null"]}},
            "required": ["x", "y"],
            "additionalProperties": False,
        }
    },
}
OTHER = {"type": "function", "function": {"name": "shape", "parameters": SCHEMA}}


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path, dtype="float32") as running:
        yield running


def form(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "it", "schema": schema}}


@pytest.mark.parametrize("seed", range(6))
def test_a_reply_of_a_schema_parses_and_validates(server: RunningServer, seed: int) -> None:
    asked: dict[str, Any] = {"response_format": form(SCHEMA), "max_tokens": 120, "seed": seed}
    answer = chat(server, temperature=1 if seed else 0, **asked)
    (choice,) = answer["choices"]
    jsonschema.validate(json.loads(choice["message"]["content"]), SCHEMA)
    assert choice["finish_reason"] == "stop"


def test_a_streamed_reply_of_a_schema_validates_too(server: RunningServer) -> None:
    chunks = stream(
        server, CHAT, messages=HELLO, response_format=form(SCHEMA), max_tokens=120, seed=3
    )
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    jsonschema.validate(json.loads(text), SCHEMA)


@pytest.mark.parametrize("seed", range(3))
def test_a_reply_that_must_be_json_is_an_object(server: RunningServer, seed: int) -> None:
    asked: dict[str, Any] = {"response_format": {"type": "json_object"}, "max_tokens": 60}
    chatted = chat(server, temperature=1, seed=seed, **asked)["choices"][0]["message"]["content"]
    text = completion(server, prompt="x", temperature=1, seed=seed, **asked)["choices"][0]["text"]
    assert isinstance(json.loads(chatted), dict)
    assert isinstance(json.loads(text), dict)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_call_that_is_required_fits_its_tool(
    server: RunningServer, seed: int, streamed: bool
) -> None:
    asked: dict[str, Any] = {
        "messages": HELLO,
        "tools": [TOOL, OTHER],
        "tool_choice": "required",
        "max_tokens": 160,
        "temperature": 1,
        "seed": seed,
    }
    if streamed:
        chunks = [chunk["choices"][0] for chunk in stream(server, CHAT, **asked)]
        (call,) = [c for chunk in chunks for c in chunk["delta"].get("tool_calls", [])]
        assert (call["index"], chunks[-1]["finish_reason"]) == (0, "tool_calls")
    else:
        (choice,) = chat(server, **asked)["choices"]
        (call,) = choice["message"]["tool_calls"]
        assert (choice["message"]["content"], choice["finish_reason"]) == (None, "tool_calls")
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in (TOOL, OTHER)}
    function = call["function"]
    jsonschema.validate(json.loads(function["arguments"]), schemas[function["name"]])


def test_a_model_that_may_choose_answers_in_text(server: RunningServer) -> None:
    (choice,) = chat(server, tools=[TOOL], max_tokens=8, temperature=0)["choices"]
    (plain,) = chat(server, max_tokens=8, temperature=0)["choices"]
    assert choice["message"] == plain["message"]


@pytest.mark.parametrize("streamed", [True, False])
def test_a_schema_that_cannot_be_enforced_is_refused_in_words(
    server: RunningServer, streamed: bool
) -> None:
    wrong = {"type": "object", "properties": {"a": {"type": "nonsense"}}}
    answer = post(server, CHAT, messages=HELLO, response_format=form(wrong), stream=streamed)
    error = refused(answer, 400)
    assert error["code"] == "invalid_schema"
    assert error["param"] == "response_format.json_schema.schema"
    tool = {"type": "function", "function": {"name": "f", "parameters": wrong}}
    answer = post(server, CHAT, messages=HELLO, tools=[tool], tool_choice="required")
    assert refused(answer, 400)["param"] == "tools"


@pytest.mark.parametrize(
    ("guided", "pattern"),
    [
        ({"guided_regex": "[a-c]{2,4}"}, "[a-c]{2,4}"),
        ({"guided_choice": ["yes", "no"]}, "yes|no"),
        ({"guided_grammar": 'root ::= "x" "y"+'}, "xy+"),
        ({"guided_json": {"const": [1, 2]}}, r"\[1, 2\]"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_forms_are_asked_for_as_vllm_has_them(
    server: RunningServer, guided: dict[str, Any], pattern: str
) -> None:
    asked: dict[str, Any] = {**guided, "max_tokens": 30, "seed": 4, "temperature": 1}
    chatted = chat(server, **asked)["choices"][0]["message"]["content"]
    text = completion(server, prompt="x", **asked)["choices"][0]["text"]
    assert re.fullmatch(pattern, chatted)
    assert re.fullmatch(pattern, text)


def test_a_form_that_cannot_be_followed_is_refused_by_its_code(server: RunningServer) -> None:
    for guided, code in (
        ({"guided_regex": "a(?=b)"}, "form_invalid"),
        ({"guided_grammar": 'start: "a" start'}, "form_endless"),
        ({"guided_choice": []}, "form_invalid"),
        ({"guided_json": {"not": {}}}, "invalid_schema"),
    ):
        error = refused(post(server, CHAT, messages=HELLO, **guided), 400)
        assert (error["code"], error["param"]) == (code, *guided)


def test_a_regex_that_grows_beyond_bounds_is_told_as_one(server: RunningServer) -> None:
    # It compiles; what may follow is asked for when the reply has begun.
    answer = post(server, CHAT, messages=HELLO, guided_regex="(a?){500}a{500}")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "form_too_costly")
    assert error["message"].startswith("form refused: ")
