"""Spans as sets of positions, and what a message may say of them."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_wire.errors import MalformedMessage, SpansRefused
from split_wire.fields import Fields
from split_wire.hiding.spans import (
    MOST_SPANS,
    Spans,
    count,
    cut,
    gaps,
    require_few,
    require_hideable,
    spans_field,
    spans_value,
    union,
    without,
)


def _spans(edges: list[int]) -> Spans:
    edges = sorted(edges)[: len(edges) // 2 * 2]
    return tuple(zip(edges[::2], edges[1::2], strict=True))


SPANS = st.lists(st.integers(0, 40), unique=True, max_size=12).map(_spans)


def positions(spans: Spans) -> set[int]:
    return {position for start, end in spans for position in range(start, end)}


@given(SPANS, SPANS, st.integers(0, 45))
def test_they_are_sets_of_positions(one: Spans, other: Spans, length: int) -> None:
    first = set(range(length))
    for spans, wanted in (
        (union(one, other), positions(one) | positions(other)),
        (without(one, other), positions(one) - positions(other)),
        (cut(one, length), positions(one) & first),
        (gaps(one, length), first - positions(one)),
    ):
        assert positions(spans) == wanted
        assert count(spans) == len(wanted)
        assert spans_field(Fields({"spans": spans_value(spans)}), "spans") == spans


def test_spans_that_touch_become_one() -> None:
    assert union(((4, 6), (8, 9)), ((6, 8),)) == ((4, 9),)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        [4, 8],
        b"1234567",
        struct.pack("<II", 8, 8),
        struct.pack("<II", 8, 4),
        struct.pack("<IIII", 4, 8, 7, 9),
        struct.pack("<IIII", 20, 30, 4, 8),
        bytes(8 * (MOST_SPANS + 1)),
    ],
)
def test_what_is_no_list_of_spans_is_refused(value: object) -> None:
    with pytest.raises(MalformedMessage, match="spans"):
        spans_field(Fields({"spans": value}), "spans")


@pytest.mark.parametrize("spans", [((3, 5),), ((4, 21),), ((22, 23),), ((5, 6), (25, 31))])
def test_neither_sinks_nor_the_last_message_may_be_hidden(spans: Spans) -> None:
    message: Spans = ((20, 30),)
    require_hideable(((4, 20), (30, 40)), message)
    require_hideable(((20, 30),), ())
    with pytest.raises(SpansRefused, match="always seen"):
        require_hideable(spans, message)


def test_a_session_hides_so_many_spans_at_most() -> None:
    spans = tuple((2 * index, 2 * index + 1) for index in range(2, MOST_SPANS + 2))
    require_few(spans)
    with pytest.raises(SpansRefused, match="separate spans"):
        require_few((*spans, (1 << 20, 1 << 21)))
