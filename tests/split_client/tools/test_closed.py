"""Schemas of arguments as a model is held to them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from split_client.tools.closed import closed
from split_client.tools.schema import arguments_schema

EMPTY: list[dict[str, Any] | None] = [
    None,
    {},
    {"type": "object"},
    {"type": "object", "properties": {}},
    {"properties": {}},
    {"type": ["object", "null"], "properties": {}},
    {"description": "Nothing.", "properties": {}, "required": []},
]
OPTIONAL = {"type": "object", "properties": {"a": {"type": "string"}}}


def fits(schema: dict[str, Any], value: Any) -> bool:
    jsonschema.Draft202012Validator.check_schema(schema)
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


@pytest.mark.parametrize("parameters", EMPTY, ids=str)
def test_a_tool_without_parameters_has_no_arguments(parameters: dict[str, Any] | None) -> None:
    schema = arguments_schema(parameters)
    assert fits(schema, {})
    assert not any(fits(schema, other) for other in ({"": 1}, [], None, "x"))


def test_parameters_that_are_all_optional_allow_no_others() -> None:
    schema = arguments_schema(OPTIONAL)
    assert fits(schema, {})
    assert fits(schema, {"a": "x"})
    assert not fits(schema, {"": 1})


def test_parameters_without_a_type_are_an_objects() -> None:
    schema = arguments_schema({"properties": {"a": {"type": "string"}}, "required": ["a"]})
    assert fits(schema, {"a": "x"})
    assert not fits(schema, ["x"])


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": True},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}},
        {"type": "object", "patternProperties": {"^x": {}}},
        {"type": "object", "properties": {"a": {}}, "required": ["b"]},
    ],
    ids=str,
)
def test_objects_that_allow_more_stay_open(schema: dict[str, Any]) -> None:
    assert arguments_schema(schema) == schema


def test_inner_objects_are_closed_and_maps_stay_maps() -> None:
    inner = {"type": "object", "properties": {"x": {"type": "integer"}}}
    schema = closed(
        {
            "type": "object",
            "properties": {
                "point": inner,
                "points": {"type": "array", "items": {"$ref": "#/$defs/P"}},
                "either": {"anyOf": [inner, {"type": "null"}]},
                "map": {"type": "object"},
            },
            "$defs": {"P": inner},
        }
    )
    assert fits(schema, {"point": {"x": 1}, "points": [{"x": 1}], "either": None, "map": {"q": 1}})
    for name, value in (("point", {"": 1}), ("points", [{"": 1}]), ("either", {"y": 1})):
        assert not fits(schema, {name: value})


def test_what_is_joined_of_several_schemas_is_left_as_it_is() -> None:
    parts = [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "integer"}}}]
    for schema in (
        {"type": "object", "allOf": parts},
        {"$ref": "#/$defs/A", "properties": {"b": {}}, "$defs": {"A": parts[0]}},
        {"type": "object", "properties": {"c": {}}, "anyOf": parts},
    ):
        assert closed(schema) == schema
        assert fits(arguments_schema(schema), {"a": 1, "b": 2})


def test_the_schema_that_was_given_is_not_changed() -> None:
    before = json.dumps(OPTIONAL)
    arguments_schema(OPTIONAL)
    assert json.dumps(OPTIONAL) == before
