from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_client.saved_chats.errors import ChatNameInvalid
from split_client.saved_chats.names import checked_name, folded, is_path, title_of

NOON = datetime(2026, 3, 5, 12)


@pytest.mark.parametrize("name", ["Trip to Rome", "東京 2026", "a.b", "Grüße (1)", "#1 & more!"])
def test_people_write_names_as_they_like(name: str) -> None:
    assert checked_name(f"  {name}\n") == name


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "empty"),
        (" \t", "empty"),
        ("..", "begin"),
        (".hidden", "begin"),
        ("-x", "begin"),
        ("@brief", "begin"),
        ("end.", "begin"),
        ("a/b", "none of"),
        ("../../etc/passwd", "begin"),
        ("a\\b", "none of"),
        ("a:b", "none of"),
        ("a\x00b", "control"),
        ("a\x1b[2J", "control"),
        ("a\u202etxt", "control"),
        ("CON", "device"),
        ("lpt1.old", "device"),
        ("x" * 201, "too long"),
        ("東" * 67, "too long"),
    ],
)
def test_a_name_is_no_path_and_no_trick(name: str, reason: str) -> None:
    with pytest.raises(ChatNameInvalid, match=reason) as caught:
        checked_name(name)
    assert caught.value.code == "chat_name_invalid"
    assert "\x1b" not in str(caught.value)


@given(st.text(max_size=300))
def test_what_is_accepted_is_one_part_of_a_path(text: str) -> None:
    try:
        name = checked_name(text)
    except ChatNameInvalid:
        return
    assert name
    assert not set(name) & set("/\\\x00")
    assert name not in (".", "..")
    assert len(f"{name}.json".encode("utf-8", "replace")) <= 255
    assert checked_name(name) == name


@given(st.text(max_size=500))
def test_every_message_makes_a_name(message: str) -> None:
    assert title_of(message, NOON).startswith("2026-03-05 ")


def test_a_title_is_the_day_and_the_first_words() -> None:
    assert title_of("What is: split\ninference? And more words here", NOON) == (
        "2026-03-05 What is split inference And more"
    )
    assert title_of("///", NOON) == "2026-03-05 chat"


@pytest.mark.parametrize("text", ["./a", "~/a", "a/b", "/a", "a.json", ".a", "a\\b"])
def test_what_looks_like_a_path_is_one(text: str) -> None:
    assert is_path(text)
    assert not is_path("Trip to Rome 1.2")


def test_case_and_composition_make_no_difference() -> None:
    assert folded("STRASSE e\u0301") == folded("straße é")
