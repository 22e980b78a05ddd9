from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from split_client.terminal.output.wrap import Wrapper


def wrapped(text: str, width: int = 20, size: int = 3) -> str:
    wrapper = Wrapper(width, get_cwidth)
    pieces = [wrapper.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join(pieces) + wrapper.flush()


def test_prose_breaks_between_words() -> None:
    assert wrapped("The device still decides every token.") == (
        "The device still\ndecides every token."
    )


def test_own_line_breaks_stay() -> None:
    assert wrapped("a\n\nb c\n") == "a\n\nb c\n"


def test_code_keeps_its_lines() -> None:
    code = "```\nvalue = function(argument, another)\n```\n    indented code that is long\n"
    assert wrapped(code) == code


def test_wide_characters_count_twice() -> None:
    assert wrapped("東京 東京東京東京東京 東") == "東京\n東京東京東京東京 東"


@given(st.text("ab \n東", max_size=80), st.integers(1, 7))
def test_only_spaces_become_line_breaks_and_lines_fit(text: str, size: int) -> None:
    shown = wrapped(text, 12, size)
    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", text)
    for line in shown.split("\n"):
        if not line.startswith(" "):
            assert get_cwidth(line) <= 12 or " " not in line.strip()


def test_pieces_come_out_as_the_whole() -> None:
    text = "some words of a reply that is longer than one line"
    assert wrapped(text, size=1) == wrapped(text, size=100)
