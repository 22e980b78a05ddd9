from __future__ import annotations

import pytest

from split_wire.errors import MalformedMessage
from split_wire.fields import MAX_STEP, MAX_TEXT, Fields


def test_counts_are_whole_numbers_within_their_limit() -> None:
    fields = Fields({"zero": 0, "most": MAX_STEP, "yes": True, "half": 0.5, "below": -1, "x": "1"})
    assert (fields.count("zero"), fields.count("most")) == (0, MAX_STEP)
    for name in ("yes", "half", "below", "x", "absent"):
        with pytest.raises(MalformedMessage, match=f"'{name}' must be a whole number"):
            fields.count(name)
    with pytest.raises(MalformedMessage, match="from 0 to 5"):
        fields.count("most", 5)


def test_texts_have_a_longest_length() -> None:
    fields = Fields({"most": "é" * MAX_TEXT, "more": "x" * (MAX_TEXT + 1), "bytes": b"x"})
    assert fields.text("most") == "é" * MAX_TEXT
    for name in ("more", "bytes", "absent"):
        with pytest.raises(MalformedMessage, match=f"'{name}' must be text of at most 200"):
            fields.text(name)


def test_an_optional_field_may_be_missing_or_nil() -> None:
    for fields in (Fields({}), Fields({"x": None})):
        assert fields.optional_text("x") is None
        assert fields.optional_count("x") == 0
        assert fields.optional_seconds("x") is None
        assert fields.optional_digest("x", 16) == b""
        assert fields.flag("x", default=True) is True
        assert fields.texts("x") == ()
        assert fields.printable("x", 10) == ""


def test_an_optional_field_that_is_there_must_be_right() -> None:
    fields = Fields({"x": [1]})
    for read in (
        lambda: fields.optional_text("x"),
        lambda: fields.optional_count("x"),
        lambda: fields.optional_seconds("x"),
        lambda: fields.optional_digest("x", 16),
        lambda: fields.flag("x", default=True),
        lambda: fields.texts("x"),
        lambda: fields.printable("x", 10),
    ):
        with pytest.raises(MalformedMessage, match="'x' must be"):
            read()


def test_a_required_field_that_is_nil_is_missing() -> None:
    fields = Fields({"x": None})
    for read in (
        lambda: fields.text("x"),
        lambda: fields.count("x"),
        lambda: fields.digest("x", 16),
        lambda: fields.code("x"),
    ):
        with pytest.raises(MalformedMessage, match="'x' must be"):
            read()


def test_seconds_may_be_whole_or_not() -> None:
    assert Fields({"x": 2}).optional_seconds("x") == 2.0
    assert Fields({"x": 0.25}).optional_seconds("x") == 0.25


def test_text_for_a_person_is_cut_and_cannot_steer_a_terminal() -> None:
    fields = Fields({"x": "a\x07b\u200bc\x9bd\nä" + "y" * 100})
    assert fields.printable("x", 9) == "a b c d ä"
