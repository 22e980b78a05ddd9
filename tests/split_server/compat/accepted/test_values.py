from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from split_server.compat.accepted.kobold import KOBOLD
from split_server.compat.accepted.openai import CHAT, OPENAI, STREAM
from split_server.compat.accepted.values import NOTHING, Accepted, known
from split_server.compat.openai.errors import UnsupportedParameter
from split_server.compat.openai.fields import Fields, check_unread

DOCS = Path(__file__).parents[4] / "docs"
SOME = Accepted(frozenset({"user"}), {"tfs": (1,), "skip": (True,), "never": ()})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"user": "u"},
        {"tfs": 1, "skip": True},
        {"tfs": 1.0},
        {"tfs": None, "never": None},
        {"a": False, "b": 0, "c": "", "d": [], "e": {}, "f": None, "g": 0.0},
    ],
    ids=str,
)
def test_what_changes_nothing_passes(given: dict[str, Any]) -> None:
    assert SOME.refused(given) is None


@pytest.mark.parametrize(
    "given",
    [
        {"tfs": 0.9},
        {"tfs": True},
        {"tfs": 0},
        {"skip": False},
        {"skip": 1},
        {"never": 0},
        {"other": 1},
        {"other": True},
        {"other": "x"},
        {"other": [0]},
    ],
    ids=str,
)
def test_what_would_change_something_is_named(given: dict[str, Any]) -> None:
    assert SOME.refused({"user": 1, **given}) == next(iter(given))


KNOWN = known(
    ("model",), ("user",), {"seed": (-1,), "tools": NOTHING}, {"tools": "none are run here"}
)


@pytest.mark.parametrize(
    "given",
    [{"model": [1]}, {"user": "ada"}, {"seed": -1}, {"tools": {}}, {"other": False}],
    ids=str,
)
def test_an_object_may_be_checked_before_it_is_read(given: dict[str, Any]) -> None:
    check_unread(Fields(given), KNOWN)


@pytest.mark.parametrize("given", [{"seed": 0}, {"tools": [1]}, {"other": True}], ids=str)
def test_the_path_of_what_is_refused_is_told(given: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedParameter) as refused:
        check_unread(Fields({"model": 1, **given}, "a[1]"), KNOWN)
    assert refused.value.param == f"a[1].{next(iter(given))}"


def test_of_a_name_without_end_only_the_beginning_is_told() -> None:
    with pytest.raises(UnsupportedParameter) as refused:
        check_unread(Fields({"x" * 100_000: 1}), KNOWN)
    assert refused.value.param == "x" * 64


def test_a_reason_is_told_where_there_is_one() -> None:
    assert KNOWN.advice("tools") == "none are run here"
    assert KNOWN.advice("seed") == "leave it out, or send -1"
    joined = SOME | KNOWN
    assert joined.refused({"model": 1, "user": 1, "tfs": 1}) is None
    assert joined.advice("tools") == "none are run here"


def test_advice_says_what_can_be_sent() -> None:
    assert SOME.advice("skip") == "leave it out, or send true"
    assert SOME.advice("never") == SOME.advice("other") == "leave it out"


@pytest.mark.parametrize(
    ("accepted", "page"),
    [(OPENAI, "openai-api"), (CHAT, "openai-api"), (STREAM, "openai-api"), (KOBOLD, "kobold-api")],
)
def test_every_name_is_on_the_page_of_its_api(accepted: Accepted, page: str) -> None:
    told = set(re.findall(r"`([a-z_]+)`", (DOCS / f"{page}.md").read_text()))
    assert (accepted.harmless | accepted.neutral.keys()) - told == set()
