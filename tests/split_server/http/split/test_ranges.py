"""Range and conditional requests (RFC 9110) without a socket."""

from __future__ import annotations

import pytest

from split_server.http.split.ranges import Part, Unchanged, Unsatisfiable, Whole, select

_TAG = '"abc"'


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-0", Part(0, 1)),
        ("bytes=0-", Part(0, 100)),
        ("bytes=90-200", Part(90, 100)),
        ("bytes=99-99", Part(99, 100)),
        ("bytes=-1", Part(99, 100)),
        ("bytes=-1000", Part(0, 100)),
        ("bytes= 3-4 ", Part(3, 5)),
        ("bytes=100-", Unsatisfiable()),
        ("bytes=100-200", Unsatisfiable()),
        ("bytes=-0", Unsatisfiable()),
        ("bytes=5-4", Whole()),
        ("bytes=-", Whole()),
        ("bytes=", Whole()),
        ("bytes=1-2,4-5", Whole()),
        ("rows=1-2", Whole()),
        ("bytes=a-b", Whole()),
        ("bytes=" + "9" * 30 + "-", Whole()),
        ("bytes=0-" + "9" * 20, Part(0, 100)),
    ],
)
def test_single_ranges(header: str, expected: object) -> None:
    assert select("GET", {"range": header}, _TAG, 100) == expected


def test_any_range_of_nothing_cannot_be_satisfied() -> None:
    assert select("GET", {"range": "bytes=0-"}, _TAG, 0) == Unsatisfiable()


def test_a_range_needs_get() -> None:
    assert select("HEAD", {"range": "bytes=0-1"}, _TAG, 100) == Whole()


@pytest.mark.parametrize(
    ("tag", "expected"), [(_TAG, Part(0, 2)), ('"other"', Whole()), ("W/" + _TAG, Whole())]
)
def test_a_range_holds_only_for_the_copy_it_continues(tag: str, expected: object) -> None:
    headers = {"range": "bytes=0-1", "if-range": tag}
    assert select("GET", headers, _TAG, 100) == expected


@pytest.mark.parametrize("known", [_TAG, "W/" + _TAG, f'"x", {_TAG}', "*"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_known_copy_is_unchanged(known: str, method: str) -> None:
    headers = {"if-none-match": known, "range": "bytes=0-1"}
    assert select(method, headers, _TAG, 100) == Unchanged()


def test_an_unknown_copy_is_sent() -> None:
    assert select("GET", {"if-none-match": '"x"'}, _TAG, 100) == Whole()
