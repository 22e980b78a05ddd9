"""Multiples of large numbers are refused before the grammar library makes a state of each."""

from __future__ import annotations

from typing import Any

import pytest

from split_client.grammar.errors import FormEndless, GrammarInvalid
from split_client.grammar.json import rules_of
from split_client.grammar.multiples import MAX_MULTIPLE


def of(*numbers: float) -> list[dict[str, Any]]:
    return [{"multipleOf": number} for number in numbers]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "multipleOf": 99999989},
        {"type": "integer", "allOf": of(97, 89, 83, 79)},
        {"type": "integer", "multipleOf": 97, "allOf": [{"allOf": of(89)}, *of(83)]},
        {"$ref": "#/$defs/a", "multipleOf": 101, "$defs": {"a": {"multipleOf": 103}}},
        {"type": "number", "multipleOf": 1.00001},
        {"properties": {"x": {"items": {"multipleOf": MAX_MULTIPLE + 1}}}},
    ],
    ids=["one", "all of", "nested", "referred to", "decimal", "deep inside"],
)
def test_a_common_multiple_above_the_limit_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(GrammarInvalid, match="multipleOf"):
        rules_of(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"multipleOf": MAX_MULTIPLE},
        {"multipleOf": 0.01},
        {"allOf": of(10, 100, 1000)},
        {"allOf": of(0.25, 0.5)},
        {"properties": {name: {"multipleOf": n} for name, n in (("a", 97), ("b", 89), ("c", 83))}},
        {"anyOf": of(9973, 9967)},
        {"multipleOf": "3"},
        {"multipleOf": True},
        {"multipleOf": -7},
    ],
    ids=["limit", "cent", "tens", "parts", "beside", "choice", "text", "bool", "below 0"],
)
def test_everything_else_is_left_to_the_library(schema: dict[str, Any]) -> None:
    assert rules_of(schema) == schema


def test_references_without_end_are_followed_for_a_while_only() -> None:
    names = [f"n{n}" for n in range(400)]
    every = [{"$ref": f"#/$defs/{name}"} for name in names]
    schema = {"$defs": {name: {"allOf": every[:24], "multipleOf": 2} for name in names}}
    assert rules_of(schema) == schema


def test_what_holds_itself_at_once_is_looked_at_once_and_has_no_end() -> None:
    own = {"allOf": [{"$ref": "#/$defs/a"}], "multipleOf": 3}
    with pytest.raises(FormEndless):
        rules_of({"$ref": "#/$defs/a", "$defs": {"a": own}})
