from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from split_client.grammar.form import JsonSchema
from tests.split_server.compat.openai.requests import chat, tool

POINT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://example.org/point",
    "type": "object",
    "properties": {"x": {"$ref": "#/$defs/number"}, "next": {"$ref": "#"}},
    "required": ["x"],
    "$defs": {"number": {"type": "integer"}},
}
TEXT = {"type": "object", "properties": {"t": {"type": "string"}}, "required": ["t"]}


def schema(choice: Any, *tools: dict[str, Any]) -> dict[str, Any]:
    asked = chat(tools=list(tools), tool_choice=choice)
    assert asked.form is not None
    assert isinstance(asked.form.form, JsonSchema)
    schema: dict[str, Any] = asked.form.form.schema
    return schema


def accepts(found: dict[str, Any], value: Any) -> bool:
    jsonschema.Draft202012Validator.check_schema(found)
    return bool(jsonschema.Draft202012Validator(found).is_valid(value))


def test_a_model_that_may_choose_is_not_held_to_a_form() -> None:
    asked = chat(tools=[tool("point", POINT)])
    assert asked.form is None
    assert asked.tools is not None
    assert asked.tools.forced == ()


def test_a_named_tool_is_the_only_one_that_can_be_called() -> None:
    named = {"type": "function", "function": {"name": "point"}}
    found = schema(named, tool("point", POINT), tool("text", TEXT))
    assert accepts(found, {"name": "point", "arguments": {"x": 3, "next": {"x": 4}}})
    assert not accepts(found, {"name": "point", "arguments": {"x": "3"}})
    assert not accepts(found, {"name": "point", "arguments": {"x": 3, "next": {}}})
    assert not accepts(found, {"name": "text", "arguments": {"t": "a"}})


def test_when_a_call_is_required_each_tool_has_its_own_arguments() -> None:
    found = schema("required", tool("text", TEXT), tool("point", POINT), tool("bare"))
    assert accepts(found, {"name": "text", "arguments": {"t": "a"}})
    assert accepts(found, {"name": "point", "arguments": {"x": 3, "next": {"x": 4}}})
    assert accepts(found, {"name": "bare", "arguments": {}})
    assert not accepts(found, {"name": "bare", "arguments": {"anything": 1}})
    assert not accepts(found, {"name": "text", "arguments": {"x": 3}})
    assert not accepts(found, {"name": "point", "arguments": {"x": 3, "next": {"x": "4"}}})
    assert not accepts(found, {"name": "other", "arguments": {}})


def test_templates_get_the_tools_without_what_they_do_not_know() -> None:
    given = tool("text", TEXT)
    given["function"]["strict"] = True
    asked = chat(tools=[given])
    assert asked.tools is not None
    assert asked.tools.documents == (tool("text", TEXT),)


@pytest.mark.parametrize("parallel", [True, False])
def test_calls_at_once_can_be_refused(parallel: bool) -> None:
    asked = chat(tools=[tool("a")], parallel_tool_calls=parallel)
    assert asked.tools is not None
    assert asked.tools.parallel is parallel


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "function", "function": {"name": "text"}},
        {"type": "function", "name": "text"},
        {"type": "tool", "name": "text"},
        {"name": "text"},
        "text",
        {
            "type": "allowed_tools",
            "allowed_tools": {
                "mode": "required",
                "tools": [{"type": "function", "function": {"name": "text"}}],
            },
        },
        {"type": "allowed_tools", "mode": "required", "tools": [{"name": "text"}]},
    ],
    ids=str,
)
def test_one_tool_is_named_in_the_spellings_of_several_clients(choice: Any) -> None:
    found = schema(choice, tool("point", POINT), tool("text", TEXT))
    assert accepts(found, {"name": "text", "arguments": {"t": "a"}})
    assert not accepts(found, {"name": "point", "arguments": {"x": 3}})


@pytest.mark.parametrize("choice", ["required", "any", {"type": "any"}, {"type": "required"}])
def test_any_of_the_tools_must_be_called(choice: Any) -> None:
    asked = chat(tools=[tool("text", TEXT), tool("bare")], tool_choice=choice)
    assert asked.tools is not None
    assert asked.tools.forced == ("text", "bare")


def test_tools_that_are_not_allowed_are_not_told_of() -> None:
    allowed = {"mode": "auto", "tools": [{"type": "function", "function": {"name": "b"}}]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    asked = chat(tools=[tool("a"), tool("b")], tool_choice=choice)
    assert asked.tools is not None
    assert asked.tools.names == {"b"}
    assert asked.form is None


@pytest.mark.parametrize("choice", ["required", "any", {"name": "f"}, "none", "auto"])
def test_where_there_are_no_tools_there_is_no_choice(choice: Any) -> None:
    asked = chat(tool_choice=choice, parallel_tool_calls=False)
    assert (asked.tools, asked.form) == (None, None)


def test_a_tool_may_come_without_a_function_around_it() -> None:
    flat = {"type": "function", "name": "text", "description": "Does text.", "parameters": TEXT}
    asked = chat(tools=[flat])
    assert asked.tools is not None
    assert asked.tools.documents == (tool("text", TEXT),)


def test_functions_are_tools_of_which_one_is_called() -> None:
    function = tool("text", TEXT)["function"]
    asked = chat(functions=[function], function_call={"name": "text"})
    assert asked.tools is not None
    assert (asked.tools.forced, asked.tools.parallel, asked.older) == (("text",), False, True)
    assert chat(functions=[function], function_call="none").tools is None
    free = chat(functions=[function])
    assert free.tools is not None
    assert free.tools.documents == (tool("text", TEXT),)


def test_calls_of_functions_and_their_results_are_those_of_tools() -> None:
    call = {"name": "f", "arguments": '{"a": 1}'}
    asked = chat(
        messages=[
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": None, "function_call": call},
            {"role": "function", "name": "f", "content": "2"},
        ]
    )
    _, called, result = asked.messages
    assert called["tool_calls"][0]["function"] == {"name": "f", "arguments": {"a": 1}}
    assert result == {"role": "tool", "content": "2", "name": "f", "tool_call_id": "f"}
