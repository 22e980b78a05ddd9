from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from split_client.chat.attended import Attended, Passage, Span
from split_client.terminal.output.brightness import styled
from split_client.terminal.output.heat_map import heat_map
from split_client.terminal.output.wrap import Wrapper

SGR = re.compile(r"\x1b\[[0-9;]*m")


def attended(*passages: tuple[str, list[tuple[str, float | None]]]) -> Attended:
    made = [
        Passage(role, tuple(Span(text, weight) for text, weight in spans))
        for role, spans in passages
    ]
    return Attended("", tuple(made), 0.0, 0.0)


def drawn(shown: Attended, columns: int = 40, rows: int = 20) -> list[str]:
    return heat_map(shown, columns, rows, get_cwidth)[0]


def plain(lines: list[str]) -> str:
    return "\n".join(SGR.sub("", line) for line in lines)


def test_each_token_has_the_level_of_its_weight() -> None:
    lines = drawn(attended(("user", [("What", 0.2), (" now", 0.01)]), ("assistant", [("So", 0.1)])))
    assert lines == ["> " + styled("What", 4) + styled(" now", 1), styled("So", 4)]


def test_text_without_a_weight_has_no_style() -> None:
    lines = drawn(attended(("system", [("Be brief.", None)]), ("assistant", [("So", 0.1)])))
    assert lines == ["system: Be brief.", styled("So", 4)]


spans = st.lists(st.tuples(st.text("ab \n東é\u0301🙂`", max_size=8), st.floats(0, 1)), max_size=12)


@given(spans)
def test_lines_break_where_those_of_the_streamed_reply_did(made: list[tuple[str, float]]) -> None:
    text = "".join(piece for piece, _ in made)
    wrapper = Wrapper(20, get_cwidth)
    streamed = wrapper.feed(text) + wrapper.flush()
    assert plain(drawn(attended(("assistant", list(made))), 20)) == streamed


@given(spans)
def test_every_line_ends_its_own_styles(made: list[tuple[str, float]]) -> None:
    for line in drawn(attended(("user", list(made))), 20):
        assert "\n" not in line
        assert line.count("\x1b[0m") * 2 == line.count("\x1b[")
        assert not line.rpartition("\x1b[0m")[2].startswith("\x1b[")


def test_prose_fits_forty_columns() -> None:
    text = [("The", 0.1), *[(" device", 0.2)] * 30]
    lines = drawn(attended(("user", list(text)), ("assistant", list(text))), 39)
    assert len(lines) > 4
    assert all(get_cwidth(SGR.sub("", line)) <= 39 for line in lines)
    assert lines[1].startswith("  \x1b[")


def test_escapes_split_over_tokens_do_not_reach_the_terminal() -> None:
    pieces = [("a\x1b", 0.1), ("[3", 0.2), ("1mb", 0.3), ("\x9b2J\u202e", 0.1), ("c", 0.1)]
    assert plain(drawn(attended(("assistant", list(pieces))))) == "abc"


@pytest.mark.parametrize("glyph", ["e\u0301", "👩\u200d🚀"])
def test_a_glyph_of_several_tokens_is_not_cut_by_styles(glyph: str) -> None:
    pieces = [(character, 1.0 if index else 0.01) for index, character in enumerate(glyph)]
    lines = drawn(attended(("assistant", list(pieces)), ("assistant", [("x", 1.0)])))
    assert lines[0] == styled(glyph, 0)


def test_only_as_many_earlier_messages_are_shown_as_have_room() -> None:
    turns = [(role, [(f"{role} {i}", 0.1)]) for i in range(5) for role in ("user", "assistant")]
    lines, hidden = heat_map(attended(*turns), 40, 5, get_cwidth)  # type: ignore[arg-type]
    assert (len(lines), hidden) == (5, 5)
    assert plain(lines).endswith("> user 4\nassistant 4")
    lines, hidden = heat_map(attended(*turns), 40, 1, get_cwidth)  # type: ignore[arg-type]
    assert (plain(lines), hidden) == ("> user 4\nassistant 4", 8)
