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
    assert accepts(found, {"name": "bare", "arguments": {"anything": 1}})
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
