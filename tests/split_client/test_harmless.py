from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_client.harmless import Sanitiser, one_line, sanitise


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("plain Grüße 東京 🙂\n\ttab", "plain Grüße 東京 🙂\n\ttab"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP+q\x1b\\x\x1b_apc\x9cy", "xy"),
        ("\x9b2Jcleared\x9d0;t\x9cok", "clearedok"),
        ("\x1bcreset\x1b(B", "reset"),
        ("a\rb\x08c\x00d\x7fe\x85f", "abcdef"),
        ("user\u202etxt.exe\u2066x\u2069", "usertxt.exex"),
        ("a\u2028b\u200fc\U000e0041d", "abcd"),
        ("\x1b", ""),
        ("\x1b[999999999", ""),
    ],
)
def test_escapes_and_controls_are_removed_and_text_stays(text: str, harmless: str) -> None:
    assert sanitise(text) == harmless


@given(st.text(st.characters(max_codepoint=0x2100), max_size=60), st.integers(1, 5))
def test_pieces_come_out_as_the_whole_and_hold_no_control_character(text: str, size: int) -> None:
    sanitiser = Sanitiser()
    pieces = [sanitiser.feed(text[at : at + size]) for at in range(0, len(text), size)]
    shown = "".join(pieces)
    assert shown == sanitise(text)
    assert not {unicodedata.category(c) for c in shown if c not in "\n\t"} & {"Cc", "Zl", "Zp"}


def test_a_sequence_that_never_ends_does_not_swallow_the_reply() -> None:
    assert sanitise("\x1b]0;" + "x" * 1000).endswith("x" * 700)


def test_names_and_errors_come_on_one_bounded_line() -> None:
    assert one_line("a\n\n b\x1b[31m\tc") == "a b c"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"
