"""JSON of files, read strictly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_files import DocumentInvalid, is_version, parse_document

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_VALUES)
def test_what_json_writes_is_read_as_it_was(value: object) -> None:
    assert parse_document(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a": 1, "a": 2}', "key occurs twice"),
        (b'[{"a": {"b": 1, "b": 1}}]', "key occurs twice"),
        (b"[NaN]", "NaN is not JSON"),
        (b"-Infinity", "is not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"1" * 5000, "not JSON"),
        (b"\xff", "not JSON"),
        (b"", "not JSON"),
        (b"{} {}", "not JSON"),
    ],
)
def test_anything_else_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(DocumentInvalid, match=reason):
        parse_document(data)


@pytest.mark.parametrize(
    "data", [b"[" + b"[]," * 10 + b"[]]", b'{"a": {}' + b"}" * 20, b"[1" + b",1" * 20 + b"]"]
)
def test_values_are_counted_before_they_are_made(data: bytes) -> None:
    few = data.count(b",") + data.count(b"[") + data.count(b"{") - 1
    with pytest.raises(DocumentInvalid, match=f"more than {few} values"):
        parse_document(data, few)


def test_marks_inside_texts_are_no_values() -> None:
    text = b'"' + b'{[,\\"]}' * 1000 + b'"'
    assert parse_document(b"[" + text + b"," + text + b"]", 2) == [
        '{[,"]}' * 1000,
        '{[,"]}' * 1000,
    ]


@pytest.mark.parametrize("end", [b"", b"\\"], ids=["open", "a lone backslash"])
def test_a_text_without_an_end_costs_no_more_than_its_length(end: bytes) -> None:
    # Quadratic work on this would take hours.
    with pytest.raises(DocumentInvalid):
        parse_document(b'"' + b'\\"' * 500_000 + end)


@pytest.mark.parametrize("value", [True, 1.0, "1", None, 2, [1]])
def test_only_the_whole_number_is_a_version(value: object) -> None:
    assert is_version(1, 1)
    assert not is_version(value, 1)
