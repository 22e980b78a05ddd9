"""Calls that do not fit, tools that fail, results that are too long or not harmless."""

from __future__ import annotations

import json
import math
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_client.errors import PromptEmpty
from split_client.tools.call import ToolCall
from split_client.tools.checking import misfit
from split_client.tools.running import MAX_ARGUMENTS, MAX_RESULT, run_call
from split_client.tools.tool import Tool

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "n": {"type": "integer", "minimum": 1}},
    "required": ["to"],
    "additionalProperties": False,
}


def ran(result: object, arguments: str = '{"to": "Ann"}', name: str = "pay") -> str:
    def run(_: dict[str, Any]) -> object:
        if isinstance(result, BaseException):
            raise result
        return result

    tools = {"pay": Tool("pay", "", SCHEMA, run)}
    return run_call(ToolCall("1", name, arguments), tools)


def test_a_result_is_a_text_or_json() -> None:
    assert ran("done") == "done"
    assert ran({"sum": 3, "who": "Köln"}) == '{"sum": 3, "who": "Köln"}'
    assert ran(None) == "null"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("", "not JSON"),
        ("[1]", "not of type object"),
        ("{}", "'to' is missing"),
        ('{"to": 3}', "arguments.to: 3 is not of type string"),
        ('{"to": "x", "n": 0}', "arguments.n"),
        ('{"to": "x", "other": 1}', "there is no 'other'"),
        ("[" * 10_000, "not JSON"),
        (json.dumps({"to": "x" * (MAX_ARGUMENTS + 1)}), "longer than"),
    ],
    ids=range(8),
)
def test_what_does_not_fit_is_told_and_nothing_is_run(arguments: str, told: str) -> None:
    result = ran(AssertionError("it was run"), arguments)
    assert result.startswith("error: ")
    assert told in result
    assert len(result) < 600


def test_a_name_that_is_no_tool_is_told_with_those_that_are() -> None:
    assert ran("x", name="rob") == "error: there is no tool 'rob'; the tools are: pay"
    assert "\x1b" not in ran("x", name="\x1b[31mrob" * 100)


def test_exceptions_are_told_in_one_bounded_line() -> None:
    assert ran(ValueError("no\nmoney")) == "error: ValueError: no money"
    assert len(ran(RuntimeError("x" * 100_000))) < 600
    assert ran(PromptEmpty()).startswith("error: the prompt is empty")
    with pytest.raises(KeyboardInterrupt):
        ran(KeyboardInterrupt())


def test_a_tool_that_nothing_runs_says_so() -> None:
    tools = {"pay": Tool("pay", "", SCHEMA)}
    assert run_call(ToolCall("1", "pay", '{"to": "x"}'), tools) == "error: nothing runs pay here"


def test_results_are_cut_and_have_no_escape_sequences() -> None:
    result = ran("\x1b]0;title\x07\x1b[31mred\u202e" + "x" * 10_000_000)
    assert result.startswith("redxxx")
    assert len(result) < MAX_RESULT + 100
    assert "10000016 characters" in result or "characters)" in result


RULES = st.deferred(
    lambda: st.one_of(
        st.fixed_dictionaries({"type": st.sampled_from(["string", "integer", "boolean", "null"])}),
        st.fixed_dictionaries({"enum": st.lists(st.integers(0, 2) | st.booleans(), min_size=1)}),
        st.fixed_dictionaries({"type": st.just("integer"), "maximum": st.integers(0, 3)}),
        st.fixed_dictionaries({"type": st.just("array"), "items": RULES}),
        st.fixed_dictionaries({"anyOf": st.lists(RULES, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"oneOf": st.lists(RULES, min_size=1, max_size=2)}),
        st.builds(
            lambda inner: {"type": "object", "properties": {"a": inner}, "required": ["a"]}, RULES
        ),
    )
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 4) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)


@given(RULES, VALUES)
def test_what_fits_is_what_json_schema_says(schema: dict[str, Any], value: Any) -> None:
    valid = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (misfit(value, schema) is None) == valid


def test_references_are_followed_and_not_for_ever() -> None:
    tree = {"$ref": "#/$defs/t", "$defs": {"t": {"items": {"$ref": "#/$defs/t"}, "type": "array"}}}
    assert misfit([[], [[]]], tree) is None
    assert misfit([[], [3]], tree) is not None
    assert misfit(3, {"$ref": "#"}) == "arguments: too much to check"
    assert misfit({"a": 1}, {"$ref": "#/nowhere"}) is None


@pytest.mark.parametrize("kind", ["number", "integer"])
def test_a_number_of_hundreds_of_digits_is_checked_as_any_other(kind: str) -> None:
    assert misfit({"n": 10**400}, {"properties": {"n": {"type": kind}}}) is None
    assert misfit({"n": 10**400}, {"properties": {"n": {"type": kind, "maximum": 5}}})
    assert misfit({"n": math.inf}, {"properties": {"n": {"type": kind}}})


def test_a_reference_to_an_item_with_thousands_of_digits_is_to_nothing() -> None:
    schema = {"$ref": "#/anyOf/" + "9" * 5000, "anyOf": [{"type": "object"}]}
    assert misfit({}, schema) is None


def test_an_error_that_cannot_be_described_is_named() -> None:
    class Wordless(Exception):
        def __str__(self) -> str:
            raise ValueError

    assert ran(Wordless()) == "error: Wordless"


def test_a_result_with_half_a_character_can_be_encoded() -> None:
    assert ran("a\ud800b").encode() == b"ab"
    assert ran({"a": "\udfff"}).encode() == b'{"a": ""}'
