"""Vectors of forms: which texts a form has and which it has not, and what is refused by name.

Texts are what a reply may be, to the last white space; they were written by hand, and a test asks
the package jsonschema as well.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scripts.paths import ROOT

_KEYWORDS = ROOT / "device_client" / "split_client" / "grammar" / "keywords.json"
Case = dict[str, Any]


def build() -> dict[str, Any]:
    """The file's content."""
    return {
        "keywords": json.loads(Path(_KEYWORDS).read_text("ascii")),
        "schemas": _schemas(),
        "choices": _choices(),
        "regexes": _regexes(),
        "refusals": _refusals(),
    }


def _case(name: str, schema: Any, accepted: list[str], refused: list[str]) -> Case:
    return {"name": name, "schema": schema, "accepted": accepted, "refused": refused}


def _object(properties: Case, required: list[str] | None = None, more: Any = False) -> Case:
    wanted = list(properties) if required is None else required
    schema: Case = {"type": "object", "properties": properties, "required": wanted}
    return schema | {"additionalProperties": more}


def _list(items: Case) -> Case:
    return {"type": "array", "items": items}


def _schemas() -> list[Case]:
    return [*_scalars(), *_containers(), *_branches(), *_references()]


def _scalars() -> list[Case]:
    return [
        _case("a string", {"type": "string"}, ['""', '"a"', '"ü\\n"'], ["a", "1", '"', '"a" ']),
        _case(
            "a string of some length",
            {"type": "string", "minLength": 2, "maxLength": 3},
            ['"ab"', '"abc"', '"üü"'],
            ['"a"', '"abcd"'],
        ),
        _case(
            "a string of a pattern",
            {"type": "string", "pattern": "^[a-z]{2}[0-9]+$"},
            ['"ab0"', '"zz42"'],
            ['"a0"', '"ab"', '"AB0"', '"ab0x"'],
        ),
        _case(
            "a whole number",
            {"type": "integer"},
            ["0", "-1", "42"],
            ["1.5", "01", "+1", "--1", '"1"', "-"],
        ),
        _case(
            "a whole number within bounds",
            {"type": "integer", "minimum": 7, "maximum": 12},
            ["7", "9", "12"],
            ["6", "13", "-8", "70"],
        ),
        _case(
            "a number with exclusive bounds",
            {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
            ["1", "9"],
            ["0", "10"],
        ),
        _case("a boolean", {"type": "boolean"}, ["true", "false"], ["True", "null", "0"]),
        _case("null", {"type": "null"}, ["null"], ["none", "0"]),
        _case("two types", {"type": ["integer", "null"]}, ["3", "null"], ['"3"', "true"]),
        _case(
            "one of some values",
            {"enum": ["red", 3, None, "gre en"]},
            ['"red"', "3", "null", '"gre en"'],
            ["red", '"blue"', "4"],
        ),
        _case("one value", {"const": "fixed"}, ['"fixed"'], ['"Fixed"', '"fix"']),
    ]


def _containers() -> list[Case]:
    person = _object({"name": {"type": "string"}, "age": {"type": "integer"}})
    return [
        _case(
            "an object in the order of its schema",
            person,
            ['{"name": "Ada", "age": 36}'],
            [
                '{"age": 36, "name": "Ada"}',
                '{"name":"Ada","age":36}',
                '{"name": "Ada"}',
                '{"name": "Ada", "age": 36, "x": 1}',
                '{"name": "Ada", "age": "36"}',
                '{"name": "Ada",  "age": 36}',
            ],
        ),
        _case(
            "an object with what may be left out",
            _object({"a": {"type": "integer"}, "b": {"type": "integer"}}, ["b"]),
            ['{"a": 1, "b": 2}', '{"b": 2}'],
            ["{}", '{"a": 1}', '{"b": 2, "a": 1}'],
        ),
        _case("an empty object", _object({}), ["{}"], ['{"a": 1}', "{ }", "[]"]),
        _case(
            "an object of any names",
            {"type": "object", "additionalProperties": {"type": "integer"}},
            ["{}", '{"a": 1}', '{"x y": -1, "b": 2}'],
            ['{"a": "1"}', '{"a": null}'],
        ),
        _case(
            "a list",
            {"type": "array", "items": {"type": "integer"}},
            ["[]", "[1]", "[1, -2, 3]"],
            ["[1,2]", "[1, ]", '["1"]', "[ ]"],
        ),
        _case(
            "a list of some length",
            {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2},
            ["[true]", "[true, false]"],
            ["[]", "[true, true, true]"],
        ),
        _case(
            "a tuple",
            {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "integer"}],
                "items": False,
                "minItems": 2,
            },
            ['["a", 1]'],
            ['["a"]', '[1, "a"]', '["a", 1, 2]'],
        ),
        _case(
            "lists within objects within lists",
            {
                "type": "array",
                "items": _object({"tags": {"type": "array", "items": {"enum": ["x"]}}}),
            },
            ["[]", '[{"tags": []}]', '[{"tags": ["x", "x"]}, {"tags": ["x"]}]'],
            ['[{"tags": ["y"]}]', "[{}]"],
        ),
    ]


def _branches() -> list[Case]:
    circle = _object({"kind": {"const": "circle"}, "r": {"type": "integer"}})
    square = _object({"kind": {"const": "square"}, "side": {"type": "integer"}})
    return [
        _case(
            "one of two objects",
            {"anyOf": [circle, square]},
            ['{"kind": "circle", "r": 1}', '{"kind": "square", "side": 2}'],
            ['{"kind": "circle", "side": 1}', '{"kind": "oval"}'],
        ),
        _case(
            "a type or another",
            {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]},
            ['"a"', "null"],
            ['"ab"', "1"],
        ),
    ]


def _references() -> list[Case]:
    tree = _object(
        {
            "value": {"type": "integer"},
            "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
        }
    )
    return [
        _case(
            "a definition",
            _object({"at": {"$ref": "#/$defs/point"}})
            | {"$defs": {"point": _object({"x": {"type": "integer"}})}},
            ['{"at": {"x": 3}}'],
            ['{"at": 3}', '{"at": {}}'],
        ),
        _case(
            "a list of nodes that ends",
            {"$ref": "#/$defs/node", "$defs": {"node": tree}},
            ['{"value": 1, "next": null}', '{"value": 1, "next": {"value": 2, "next": null}}'],
            ['{"value": 1}', '{"value": 1, "next": {}}'],
        ),
        _case(
            "keywords as names of properties, and annotations",
            {"title": "T", "description": "d", "x-own": [1]}
            | _object({"not": {"type": "integer", "default": 3}, "if": {"const": {"not": 1}}}),
            ['{"not": 1, "if": {"not": 1}}'],
            ['{"not": 1}', '{"not": 1, "if": {}}'],
        ),
        _case(
            "a keyword that demands nothing",
            {"type": "array", "items": {"type": "integer"}, "uniqueItems": False},
            ["[]", "[1, 1]"],
            ["[1, true]"],
        ),
    ]


def _choices() -> list[Case]:
    return [
        {"texts": ["yes", "no"], "accepted": ["yes", "no"], "refused": ["y", "yes!", "noo", ""]},
        {
            "texts": ["a", "ab", "abc", "ü", "über uns"],
            "accepted": ["a", "ab", "abc", "ü", "über uns"],
            "refused": ["b", "abcd", "üb", "über"],
        },
        {"texts": ["one\ntwo", '"'], "accepted": ["one\ntwo", '"'], "refused": ["one", "one two"]},
    ]


def _regexes() -> list[Case]:
    return [
        {
            "pattern": "[0-9]{4}-[0-9]{2}",
            "accepted": ["2026-11"],
            "refused": ["2026-1", "x2026-11", "2026-111"],
        },
        {"pattern": "^(red|green)$", "accepted": ["red", "green"], "refused": ["blue", "redgreen"]},
        {"pattern": "a*b?", "accepted": ["aaab", "b", "aa"], "refused": ["ba", "abb", "c"]},
        {"pattern": "(ü|é)+[^a-z]", "accepted": ["ü!", "éüA"], "refused": ["ü", "üa", "!"]},
        {"pattern": r"\d+(\.\d+)?", "accepted": ["1", "12.50"], "refused": [".5", "1.", "a"]},
    ]


def _refusals() -> list[Case]:
    text = {"type": "string"}
    named: list[tuple[str, str, Any]] = [
        ("not", "#", {"not": text}),
        ("uniqueItems", "#/properties/a", _object({"a": {"type": "array", "uniqueItems": True}})),
        ("contains", "#/items", {"type": "array", "items": {"type": "array", "contains": text}}),
        ("if", "#/anyOf/1", {"anyOf": [text, {"if": text, "then": text}]}),
        ("then", "#/anyOf/1", {"anyOf": [text, {"then": text}]}),
        ("else", "#", {"type": "string", "else": text}),
        ("dependentRequired", "#", {"type": "object", "dependentRequired": {"a": ["b"]}}),
        ("dependentSchemas", "#", {"type": "object", "dependentSchemas": {"a": {}}}),
        ("propertyNames", "#", {"type": "object", "propertyNames": {"maxLength": 3}}),
        ("unevaluatedProperties", "#", {"type": "object", "unevaluatedProperties": False}),
        ("unevaluatedItems", "#", {"type": "array", "unevaluatedItems": False}),
        ("minContains", "#/$defs/a~1b", {"type": "null", "$defs": {"a/b": {"minContains": 2}}}),
        ("maxContains", "#/prefixItems/0", {"type": "array", "prefixItems": [{"maxContains": 2}]}),
        ("$dynamicRef", "#", {"$dynamicRef": "#node"}),
        ("format", "#/properties/a", _object({"a": {"type": "string", "format": "iri"}})),
    ]  # fmt: skip
    endless = _object({"a": {"$ref": "#"}})
    return [
        *(
            {"schema": schema, "code": "invalid_schema", "keyword": keyword, "path": path}
            for keyword, path, schema in named
        ),
        {"schema": endless, "code": "form_endless"},
        {"schema": False, "code": "invalid_schema"},
        {"schema": {"type": "integer", "minimum": 3, "maximum": 2}, "code": "form_impossible"},
        {"choice": [], "code": "form_invalid"},
        {"choice": ["a", ""], "code": "form_invalid"},
        {"regex": "", "code": "form_invalid"},
        {"regex": "a(?=b)", "code": "form_invalid"},
        {"regex": "(?<!a)b", "code": "form_invalid"},
        {"regex": "a(", "code": "form_invalid"},
        {"regex": "[^\\s\\S]", "code": "form_impossible"},
    ]
