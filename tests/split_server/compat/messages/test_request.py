"""Requests of Anthropic's form, read as chats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from split_client.generation.errors import InvalidSamplingParameter
from split_client.grammar.form import JsonSchema
from split_server.compat.messages.known import BLOCKS, OUTPUT, REQUEST, TOOL
from split_server.compat.messages.request import parse_count_request, parse_messages_request
from split_server.compat.openai.chat_request import ChatRequest
from split_server.compat.openai.errors import OpenAIError
from split_server.compat.openai.fields import parse_body
from tests.split_server.compat.openai.requests import SERVED

HELLO = [{"role": "user", "content": "Hello"}]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
DOCS = Path(__file__).parents[4] / "docs" / "messages-api.md"


def parse(**values: Any) -> ChatRequest:
    body = json.dumps({"messages": HELLO, "max_tokens": 5} | values).encode()
    return parse_messages_request(parse_body(body), SERVED).chat


def refused(**values: Any) -> str | None:
    with pytest.raises((OpenAIError, InvalidSamplingParameter)) as error:
        parse(**values)
    found = error.value
    return found.field if isinstance(found, InvalidSamplingParameter) else found.param


def test_what_is_asked_for_is_that_of_a_chat() -> None:
    asked = parse(
        model="gatelink", stream=True, temperature=0.5, top_k=4, top_p=0.9, stop_sequences=["x"]
    )
    options = asked.options
    assert (options.max_tokens, options.stream, options.stops) == (5, True, ("x",))
    assert (options.params.temperature, options.params.top_k, options.params.top_p) == (0.5, 4, 0.9)
    assert asked.messages == ({"role": "user", "content": "Hello"},)
    assert asked.tools is asked.form is None


def test_a_system_text_comes_first_whatever_its_form() -> None:
    for system in ("Be brief.\nBe kind.", [_text("Be brief."), _text("Be kind.")]):
        first = parse(system=system).messages[0]
        assert first == {"role": "system", "content": "Be brief.\nBe kind."}


def test_calls_and_results_are_messages_of_their_own() -> None:
    asked = parse(
        messages=[
            *HELLO,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    _text("I look."),
                    {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": 1}},
                    {"type": "tool_use", "id": "t2", "name": "look", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [_text("a star")]},
                    {"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": "no"},
                    _text("And now?"),
                    _text("Well?"),
                ],
            },
        ]
    )
    call = {"id": "t1", "type": "function", "function": {"name": "look", "arguments": {"at": 1}}}
    assert asked.messages[1]["content"] == "I look."
    assert asked.messages[1]["tool_calls"][0] == call
    assert [message["content"] for message in asked.messages[2:]] == [
        "a star",
        "Error: no",
        "And now?\nWell?",
    ]
    assert [message["role"] for message in asked.messages[2:]] == ["tool", "tool", "user"]


def test_turns_of_one_role_are_one_message() -> None:
    asked = parse(messages=[*HELLO, {"role": "user", "content": [_text("you")]}])
    assert asked.messages == ({"role": "user", "content": "Hello\nyou"},)


@pytest.mark.parametrize(
    ("choice", "forced", "parallel"),
    [
        (None, (), True),
        ({"type": "auto", "disable_parallel_tool_use": True}, (), False),
        ({"type": "any"}, ("look", "go"), True),
        ({"type": "tool", "name": "go"}, ("go",), True),
    ],
)
def test_tools_may_be_or_must_be_called(choice: Any, forced: Any, parallel: bool) -> None:
    asked = parse(
        tools=[_tool("look"), _tool("go") | {"cache_control": {"type": "ephemeral"}}],
        tool_choice=choice,
    )
    assert asked.tools is not None
    assert (asked.tools.forced, asked.tools.parallel) == (forced, parallel)
    assert asked.tools.documents[0]["function"] == {
        "name": "look",
        "description": "It looks.",
        "parameters": SCHEMA,
    }


def test_no_tool_may_be_called_where_none_is_chosen() -> None:
    assert parse(tools=[_tool("look")], tool_choice={"type": "none"}).tools is None


def test_a_format_is_a_form() -> None:
    asked = parse(output_config={"format": {"type": "json_schema", "schema": SCHEMA}})
    assert asked.form is not None
    assert asked.form.form == JsonSchema.of(SCHEMA)


def test_counting_needs_no_limit() -> None:
    body = json.dumps({"messages": HELLO}).encode()
    assert parse_count_request(parse_body(body), SERVED).chat.messages == tuple(HELLO)
    with pytest.raises(OpenAIError, match="max_tokens"):
        parse_messages_request(parse_body(body), SERVED)


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "tool", "content": "a"}]}, "messages[0].role"),
        ({"messages": [*HELLO, {"role": "assistant", "content": "I"}]}, "messages[1].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{}]}]}, "messages[0].content[0].type"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]},
            "messages[0].content[0]",
        ),
        ({"messages": [{"role": "user", "content": "a", "name": "b"}]}, "messages[0].name"),
        ({"system": 5}, "system"),
        ({"stop_sequences": "x"}, "stop_sequences"),
        ({"stop_sequences": [5]}, "stop_sequences[0]"),
        ({"temperature": "hot"}, "temperature"),
        ({"top_p": 2}, "top_p"),
        ({"tools": [{"name": "a"}]}, "tools[0].input_schema"),
        ({"tools": [{"name": "a b", "input_schema": {}}]}, "tools[0].name"),
        ({"tools": [{"name": "a", "input_schema": 5}]}, "tools[0].input_schema"),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools[0].type"),
        ({"tool_choice": {"type": "tool", "name": "x"}}, "tool_choice"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        (
            {
                "tool_choice": {"type": "tool", "name": "x"},
                "tools": [{"name": "a", "input_schema": {}}],
            },
            "tool_choice.name",
        ),
        ({"tool_choice": {"type": 5}}, "tool_choice.type"),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format.type"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema"),
        ({"thinking": {"type": "enabled"}}, "thinking.type"),
        ({"thinking": {"type": "enabled", "budget_tokens": 9}}, "thinking.budget_tokens"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_as_it_was_sent(values: dict[str, Any], param: str) -> None:
    assert refused(**values) == param


# Of the API's reference, and of the type definitions of its client for Python.
REFERENCE = (
    "cache_control", "container", "context_management", "diagnostics", "inference_geo",
    "max_tokens", "mcp_servers", "messages", "metadata", "model", "output_config", "service_tier",
    "speed", "stop_sequences", "stream", "system", "temperature", "thinking", "tool_choice",
    "tools", "top_k", "top_p", "user_profile_id", "workspace_id",
)  # fmt: skip
TOOL_REFERENCE = (
    "allowed_callers", "cache_control", "defer_loading", "description", "eager_input_streaming",
    "input_examples", "input_schema", "name", "strict", "type",
)  # fmt: skip


def test_every_field_of_the_reference_is_honoured_or_refused_or_listed() -> None:
    assert set(REFERENCE) == REQUEST.names - {"cache", "cache_salt"}
    assert set(TOOL_REFERENCE) == TOOL.names
    told = DOCS.read_text()
    for known in (REQUEST, TOOL, OUTPUT, *BLOCKS.values()):
        for name in (*known.harmless, *known.neutral):
            assert f"`{name}`" in told, name


@pytest.mark.parametrize("name", [*REQUEST.neutral, "unheard_of"])
def test_a_field_that_would_be_ignored_is_refused(name: str) -> None:
    assert refused(**{name: "something"}) == name


@pytest.mark.parametrize("name", sorted(REQUEST.harmless))
def test_a_field_without_effect_changes_nothing(name: str) -> None:
    assert parse(**{name: {"a": "b"}}) == parse()


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _tool(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"It {name}s.", "input_schema": SCHEMA}
