import json
from typing import Any

import pytest

from split_client.grammar.sizes import jumps_of

LONG = "x" * 300


@pytest.mark.parametrize(
    ("schema", "shortest"),
    [
        ({"const": LONG}, json.dumps(LONG)),
        ({"enum": [1, LONG]}, json.dumps(LONG)),
        ({"type": "string", "minLength": 250}, "x" * 252),
        ({"type": "string", "pattern": "^a{500}$"}, "a" * 502),
        ({"type": "string", "pattern": "^(ab{20}){20}$"}, "a" * 420),
        ({"type": "integer", "minimum": 10**200}, "1" * 201),
    ],
)
def test_within_a_value_no_token_asks_for_more_than_the_whole_value(
    schema: dict[str, Any], shortest: str
) -> None:
    assert jumps_of(schema).leaf >= len(shortest)
    assert jumps_of({"type": "array", "items": schema}).leaf >= len(shortest)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"const": LONG}}, "required": ["a"]},
        {"properties": {"a": {"const": LONG}}},
        {"additionalProperties": {"const": LONG}},
        {"patternProperties": {"^a": {"const": LONG}}},
        {"items": {"const": LONG}},
        {"items": {"type": "integer"}, "minItems": 200},
        {"prefixItems": [{"const": LONG}], "minItems": 1},
        {"anyOf": [{"type": "null"}, {"properties": {"a": {"const": LONG}}, "required": ["a"]}]},
        {"allOf": [{"properties": {"a": {"const": LONG}}, "required": ["a"]}]},
        {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"const": LONG}}},
        {"required": [LONG]},
    ],
)
def test_opening_anything_is_within_the_bound(schema: dict[str, Any]) -> None:
    assert jumps_of(schema).any >= 300


def test_a_schema_that_contains_itself_counts_its_way_out() -> None:
    node: dict[str, Any] = {
        "anyOf": [
            {"type": "null"},
            {"properties": {"next": {"$ref": "#"}, "name": {"const": LONG}}, "required": ["next"]},
        ]
    }
    assert 300 <= jumps_of(node).any < 5_000


def test_entangled_references_give_a_bound_that_is_never_too_small() -> None:
    levels: dict[str, Any] = {"n0": {"type": "integer"}}
    for level in range(1, 3_000):
        below = {"$ref": f"#/$defs/n{level - 1}"}
        levels[f"n{level}"] = {"properties": {"x": below}, "required": ["x"]}
    jumps = jumps_of({"$ref": "#/$defs/n2999", "$defs": levels})
    assert jumps.any > 3_000 * 5
    assert jumps.leaf < 1_000


def test_names_that_are_keywords_are_properties_all_the_same() -> None:
    names = ["enum", "const", "required", "items", "minLength", "$ref", "anyOf", "properties"]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    assert 0 < jumps_of(schema).any < 2_000
