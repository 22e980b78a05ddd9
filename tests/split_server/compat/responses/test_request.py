"""Requests of the Responses API, read as chats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from split_client.generation.errors import InvalidSamplingParameter
from split_client.grammar.form import JsonObject, JsonSchema
from split_server.compat.openai.errors import OpenAIError
from split_server.compat.openai.fields import parse_body
from split_server.compat.responses.known import (
    EXTENSIONS,
    ITEMS,
    PARTS,
    REASONING,
    REQUEST,
    STREAM,
    TEXT,
    TOOL,
)
from split_server.compat.responses.request import ResponsesRequest, parse_responses_request
from tests.split_server.compat.openai.requests import SERVED

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
LOOK = {"type": "function", "name": "look", "parameters": SCHEMA}
GO = {"type": "function", "name": "go", "parameters": SCHEMA, "strict": True}
DOCS = Path(__file__).parents[4] / "docs" / "responses-api.md"


def parse(**values: Any) -> ResponsesRequest:
    body = json.dumps({"input": "Hello"} | values).encode()
    return parse_responses_request(parse_body(body), SERVED)


def refused(**values: Any) -> str | None:
    with pytest.raises((OpenAIError, InvalidSamplingParameter)) as error:
        parse(**values)
    found = error.value
    return found.field if isinstance(found, InvalidSamplingParameter) else found.param


def test_a_text_is_what_the_user_says() -> None:
    asked = parse(
        model="gatelink", instructions="Be brief.", max_output_tokens=9, temperature=0.5, top_p=0.9
    )
    assert asked.after([]).messages == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    )
    options = asked.chat.options
    assert (options.max_tokens, options.stream) == (9, False)
    assert (options.params.temperature, options.params.top_p) == (0.5, 0.9)
    assert (asked.store, asked.previous) == (False, None)


def test_items_are_messages_with_their_calls() -> None:
    asked = parse(
        input=[
            {"type": "message", "role": "developer", "content": "Be brief."},
            {"role": "user", "content": [_part("Hello"), _part("you")]},
            {"role": "assistant", "content": [_part("I look.", "output_text")], "id": "msg_1"},
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": 1}'},
            {"type": "function_call", "call_id": "c2", "name": "look", "arguments": ""},
            {"type": "function_call_output", "call_id": "c1", "output": "a star"},
            {"type": "function_call_output", "call_id": "c2", "output": [_part("a moon")]},
        ]
    )
    roles = [message["role"] for message in asked.chat.messages]
    assert roles == ["system", "user", "assistant", "tool", "tool"]
    assert asked.chat.messages[1]["content"] == "Hello\nyou"
    called = asked.chat.messages[2]
    assert called["content"] == "I look."
    assert [call["id"] for call in called["tool_calls"]] == ["c1", "c2"]
    assert called["tool_calls"][0]["function"] == {"name": "look", "arguments": {"at": 1}}
    assert [message["content"] for message in asked.chat.messages[3:]] == ["a star", "a moon"]


def test_what_was_said_before_stands_behind_the_instructions() -> None:
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    messages = parse(instructions="Be brief.").after(history).messages
    assert [message["content"] for message in messages] == ["Be brief.", "Hi", "Hello", "Hello"]
    system = [{"role": "system", "content": "Be kind."}, *history]
    assert parse(instructions="Be brief.").after(system).messages[0] == {
        "role": "system",
        "content": "Be brief.\nBe kind.",
    }


@pytest.mark.parametrize(
    ("choice", "names", "forced"),
    [
        (None, {"look", "go"}, ()),
        ("auto", {"look", "go"}, ()),
        ("required", {"look", "go"}, ("look", "go")),
        ({"type": "function", "name": "go"}, {"look", "go"}, ("go",)),
        ({"type": "allowed_tools", "mode": "auto", "tools": [GO]}, {"go"}, ()),
        ({"type": "allowed_tools", "mode": "required", "tools": [GO]}, {"go"}, ("go",)),
    ],
)
def test_tools_may_be_or_must_be_called(choice: Any, names: set[str], forced: Any) -> None:
    tools = parse(tools=[LOOK, GO], tool_choice=choice).chat.tools
    assert tools is not None
    assert (tools.names, tools.forced) == (names, forced)


def test_no_tool_may_be_called_where_none_is_chosen() -> None:
    assert parse(tools=[LOOK], tool_choice="none").chat.tools is None


def test_a_text_has_a_format() -> None:
    def form(given: Any) -> Any:
        found = parse(text={"format": given, "verbosity": "medium"}).chat.form
        return None if found is None else found.form

    assert form(None) is form({"type": "text"}) is None
    assert form({"type": "json_object"}) == JsonObject()
    named = {"type": "json_schema", "name": "a", "strict": True, "schema": SCHEMA}
    assert form(named) == JsonSchema.of(SCHEMA)


@pytest.mark.parametrize(
    ("values", "logprobs"),
    [
        ({}, None),
        ({"top_logprobs": 3}, 3),
        ({"include": ["message.output_text.logprobs"]}, 0),
        ({"include": ["reasoning.encrypted_content"]}, None),
    ],
)
def test_logprobs_are_asked_for_by_number_or_by_name(values: Any, logprobs: int | None) -> None:
    assert parse(**values).chat.logprobs == logprobs


def test_an_answer_tells_its_request_again() -> None:
    echo = parse(tools=[LOOK], metadata={"a": "b"}, user="ada", instructions="Be brief.").echo
    assert (echo["tools"], echo["tool_choice"], echo["metadata"]) == ([LOOK], "auto", {"a": "b"})
    assert (echo["user"], echo["instructions"], echo["temperature"]) == ("ada", "Be brief.", None)
    assert echo["text"]["format"] == {"type": "text"}


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": [5]}, "input[0]"),
        ({"input": ""}, None),
        ({"input": [{"role": "tool", "content": "a"}]}, "input[0].role"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"type": "reasoning", "summary": []}]}, "input[0].type"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0].type"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            "input[0].content[0]",
        ),
        ({"input": [{"type": "function_call", "name": "a"}]}, "input[0].call_id"),
        ({"input": [{"role": "user", "content": "a", "extra": 1}]}, "input[0].extra"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"temperature": 3}, "temperature"),
        ({"top_p": 2}, "top_p"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tools": [{"type": "function", "name": "a b"}]}, "tools[0].name"),
        ({"tools": [LOOK | {"defer_loading": True}]}, "tools[0].defer_loading"),
        ({"tool_choice": {"type": "web_search"}}, "tool_choice"),
        ({"tool_choice": {"type": "web_search"}, "tools": [LOOK]}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "name": "x"}, "tools": [LOOK]}, "tool_choice.name"),
        (
            {"tool_choice": {"type": "allowed_tools", "tools": [GO]}, "tools": [LOOK]},
            "tool_choice.tools",
        ),
        (
            {"tool_choice": {"type": "function", "name": "look", "more": 1}, "tools": [LOOK]},
            "tool_choice.more",
        ),
        ({"text": {"format": {"type": "text", "more": 1}}}, "text.format.more"),
        ({"user": "u" * 513}, "user"),
        ({"safety_identifier": "u" * 513}, "safety_identifier"),
        ({"prompt_cache_key": "u" * 513}, "prompt_cache_key"),
        ({"text": {"format": {"type": "xml"}}}, "text.format.type"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format.schema"),
        ({"text": {"verbosity": "low"}}, "text.verbosity"),
        ({"reasoning": {"effort": "low"}}, "reasoning.effort"),
        ({"reasoning": {"summary": "auto"}}, "reasoning.summary"),
        ({"include": ["file_search_call.results"]}, "include"),
        ({"metadata": {"a": 5}}, "metadata.a"),
        ({"store": "yes"}, "store"),
        ({"previous_response_id": 5}, "previous_response_id"),
        ({"truncation": "auto"}, "truncation"),
        ({"background": True}, "background"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_as_it_was_sent(values: dict[str, Any], param: str | None) -> None:
    if values == {"input": ""}:
        assert parse(**values).chat.messages[0]["content"] == ""
    else:
        assert refused(**values) == param


# Of the API's reference, and of the type definitions of its client for Python.
REFERENCE = (
    "access_programs", "background", "background_options", "context_management", "conversation",
    "image", "include", "input", "instructions", "max_output_tokens", "max_tool_calls", "metadata",
    "model", "moderation", "parallel_tool_calls", "previous_response_id", "prompt",
    "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning",
    "safety_identifier", "service_tier", "store", "stream", "stream_options", "temperature", "text",
    "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user",
)  # fmt: skip
TOOL_REFERENCE = (
    "allowed_callers", "async", "defer_loading", "description", "name", "output_schema",
    "parameters", "strict", "type",
)  # fmt: skip


def test_every_field_of_the_reference_is_honoured_or_refused_or_listed() -> None:
    assert set(REFERENCE) == REQUEST.names - set(EXTENSIONS)
    assert set(TOOL_REFERENCE) == TOOL.names
    told = DOCS.read_text()
    for known in (REQUEST, TOOL, TEXT, STREAM, REASONING, *ITEMS.values(), *PARTS.values()):
        for name in (*known.harmless, *known.neutral):
            assert f"`{name}`" in told, name


@pytest.mark.parametrize("name", [*REQUEST.neutral, "unheard_of"])
def test_a_field_that_would_be_ignored_is_refused(name: str) -> None:
    assert refused(**{name: "something"}) == name


@pytest.mark.parametrize("name", sorted(REQUEST.harmless))
def test_a_field_without_effect_changes_nothing(name: str) -> None:
    assert parse(**{name: 5 if name == "max_tool_calls" else "a"}).chat == parse().chat


def _part(text: str, kind: str = "input_text") -> dict[str, Any]:
    return {"type": kind, "text": text}
