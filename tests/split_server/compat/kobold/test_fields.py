"""Fields of requests: types, bounds, spellings."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from split_server.compat.kobold.errors import InvalidParameter, InvalidRequest, InvalidToken
from split_server.compat.kobold.fields import Fields, json_object
from split_wire.errors import FrameTooLarge

LIMIT = 1 << 20


def test_the_first_spelling_that_is_given_counts() -> None:
    fields = Fields({"max_new_tokens": None, "max_length": 7, "rep_pen": 1.5})
    assert fields.whole(1, 9, "max_new_tokens", "max_length") == 7
    assert fields.number("repetition_penalty", "rep_pen") == 1.5
    assert fields.whole(1, 9, "missing") is None


@pytest.mark.parametrize(
    "read",
    [
        lambda fields: fields.flag("field"),
        lambda fields: fields.whole(0, 5, "field"),
        lambda fields: fields.number("field"),
        lambda fields: fields.text(3, "field"),
        lambda fields: fields.choice(("a", "b"), "field"),
        lambda fields: fields.texts(2, 3, "field"),
        lambda fields: fields.tokens(10, 3, "field"),
    ],
)
def test_null_is_as_good_as_nothing_and_other_types_are_refused(
    read: Callable[[Fields], Any],
) -> None:
    assert not read(Fields({"field": None}))
    with pytest.raises(InvalidParameter) as refused:
        read(Fields({"field": {"a": 1}}))
    assert refused.value.fields["parameter"] == "field"


@pytest.mark.parametrize("value", [True, 6, -1, 2.0, "2", 10**400])
def test_a_whole_number_is_neither_a_truth_value_nor_a_fraction_nor_out_of_range(
    value: object,
) -> None:
    with pytest.raises(InvalidParameter):
        Fields({"field": value}).whole(0, 5, "field")


@pytest.mark.parametrize("value", [["abcd"], [1], ["a", "b", "c"], "abcd", ["\ud800"]])
def test_lists_of_texts_are_bounded_in_count_and_length(value: object) -> None:
    with pytest.raises(InvalidParameter):
        Fields({"field": value}).texts(2, 3, "field")


def test_a_single_text_is_a_list_of_one() -> None:
    assert Fields({"stop": "abc"}).texts(2, 3, "stop_sequence", "stop") == ("abc",)


def test_empty_texts_stop_nothing() -> None:
    assert Fields({"stop": ["", "abc"]}).texts(2, 3, "stop") == ("abc",)


@pytest.mark.parametrize("token", [-1, 10, 10**400])
def test_a_token_outside_the_vocabulary_is_named(token: int) -> None:
    with pytest.raises(InvalidToken) as refused:
        Fields({"input_ids": [1, token]}).tokens(10, 3, "input_ids")
    assert "vocab_size=10" in str(refused.value)


@pytest.mark.parametrize("value", [[1.0], [True], ["1"], [[1]], [1, 2, 3, 4], 5])
def test_what_is_no_list_of_ids_is_an_invalid_parameter(value: object) -> None:
    with pytest.raises(InvalidParameter):
        Fields({"input_ids": value}).tokens(10, 3, "input_ids")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"5",
        b'"text"',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b"\xff\xfe",
        b"[" * 9999,
    ],
)
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequest):
        json_object(data, LIMIT, 512)


def test_bodies_are_bounded_in_bytes_and_in_values() -> None:
    with pytest.raises(FrameTooLarge):
        json_object(b" " * 11, 10, 512)
    with pytest.raises(InvalidRequest):
        json_object(b'{"a": [' + b"{}," * 300_000 + b"{}]}", LIMIT, 512)
    ids = list(range(100_000))
    assert json_object(json.dumps({"input_ids": ids}).encode(), LIMIT, 512)["input_ids"] == ids
