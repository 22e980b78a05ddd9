from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from split_server.compat.accepted.kobold import KOBOLD
from split_server.compat.accepted.openai import CHAT, OPENAI, STREAM
from split_server.compat.accepted.values import Accepted

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
