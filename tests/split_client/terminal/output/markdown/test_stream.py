from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from split_client.terminal.output.markdown.stream import MarkdownStream
from split_client.terminal.output.sanitise import Sanitiser
from split_client.terminal.output.theme import DARK, MONO
from split_client.terminal.output.width import measure
from tests.split_client.terminal.output.markdown.streams import (
    cells,
    plain,
    shown,
    streamed,
    styled,
)

FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *"ab \n*_`~#>-+|1.)([]!\\<:&東🙂",
            "\n\n",
            "**",
            "```",
            "\n```\n",
            "~~~",
            "- ",
            "  ",
            "    ",
            "1. ",
            "| ",
            " | ",
            "|-|-|\n",
            "word ",
            "é\u0301",
            "](u)",
            "> ",
            "---",
            "\t",
        ]
    ),
    max_size=50,
).map("".join)


@settings(deadline=None)
@given(FRAGMENTS, st.lists(st.integers(1, 9), min_size=1, max_size=12), st.sampled_from([12, 39]))
def test_any_cut_into_pieces_gives_the_same_screen(text: str, sizes: list[int], width: int) -> None:
    stream, at, sent = MarkdownStream(width, measure, DARK), 0, ""
    for size in sizes:
        sent += stream.feed(text[at : at + size])
        at += size
    sent += stream.feed(text[at:]) + stream.flush()
    assert cells(sent) == cells(streamed(text, width, 1))


@settings(deadline=None)
@given(FRAGMENTS, st.sampled_from([8, 12, 39, 79]))
def test_no_letter_is_lost_or_moved(text: str, width: int) -> None:
    def letters(of: str) -> str:
        return "".join(character for character in of if character.isalpha())

    assert letters(plain(streamed(text, width))) == letters(text)


@settings(deadline=None)
@given(FRAGMENTS)
def test_each_piece_ends_its_own_styles_and_moves_the_cursor_only_on(text: str) -> None:
    stream = MarkdownStream(20, measure, DARK)
    for character in text:
        sent = stream.feed(character)
        assert sent.count("\x1b[0m") * 2 == sent.count("\x1b")
        controls = {c for c in plain(sent) if unicodedata.category(c) == "Cc"}
        assert controls <= {"\n", "\t"}


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=0x250), max_size=80), st.integers(1, 5))
def test_escape_sequences_of_a_model_never_pass(text: str, size: int) -> None:
    sanitiser, stream = Sanitiser(), MarkdownStream(30, measure, MONO)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    sent = "".join(stream.feed(sanitiser.feed(piece)) for piece in pieces) + stream.flush()
    own = re.compile(r"\x1b\[(?:[1349]|0)(?:;[1349])*m")
    assert "\x1b" not in own.sub("", sent)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", own.sub("", sent))


@settings(deadline=None)
@given(FRAGMENTS.filter(lambda text: "`" not in text and "~" not in text and "|" not in text))
def test_prose_fits_the_width(text: str) -> None:
    for line in plain(streamed(text, 24)).split("\n"):
        verbatim = line.startswith("    ") or "\t" in line
        words = re.split(r"[ \u2022\u25e6\u25aa]", line)
        assert measure(line) <= 24 or verbatim or any(measure(word) > 12 for word in words)


@settings(max_examples=20, deadline=None)
@given(st.text("*_`[!<|#- a\n", min_size=200, max_size=3000))
def test_a_hostile_text_takes_no_long_time(text: str) -> None:
    begun = time.process_time()
    streamed(text, 39, 1)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("mark", ["*a ", "[a ", "`a ", "_a_ b", "**a *", "<https://", "|a|"])
def test_what_never_closes_comes_out_after_a_bounded_wait(mark: str) -> None:
    stream = MarkdownStream(39, measure, DARK)
    sent = "".join(map(stream.feed, mark * (3000 // len(mark))))
    assert len(plain(sent)) > 900


def test_text_is_shown_word_by_word_as_it_comes() -> None:
    stream = MarkdownStream(39, measure, DARK)
    assert [stream.feed(piece) for piece in ("The dev", "ice de", "cides. ")] == [
        "The",
        " device",
        " decides.",
    ]
    assert stream.feed("A **bo") == " A"
    assert plain(stream.feed("ld** word ")) == " bold word"


def test_headings_lists_quotes_and_rules() -> None:
    text = (
        "# One *big* thing\n\n1. first\n   - inner\n     - most\n2. second\n\nafter\n"
        "> quoted words that are wrapped here\n> - item\n>\n> more\n***\n- [ ] open\n-\n"
    )
    assert shown(text, 24) == [
        "One big thing",
        "",
        "1. first",
        "   ◦ inner",
        "     ▪ most",
        "2. second",
        "",
        "after",
        "│ quoted words that are",
        "│ wrapped here",
        "│ • item",
        "│",
        "│ more",
        "─" * 24,
        "• [ ] open",
        "•",
        "",
    ]


def test_a_wrapped_item_hangs_below_its_own_text() -> None:
    assert shown("10. some words that do not fit\n    and more", 16) == [
        "10. some words",
        "    that do not",
        "    fit",
        "    and more",
    ]


def test_indents_of_two_columns_nest_and_deep_ones_leave_room_for_text() -> None:
    assert shown("1. a\n  - b\n    - c") == ["1. a", "   ◦ b", "     ▪ c"]
    deep = "\n".join("  " * level + "- word word word" for level in range(12))
    assert all(measure(line) <= 20 for line in shown(deep, 20))
    assert shown(deep, 20)[-1].strip()


def test_fenced_code_is_left_as_it_is_and_named() -> None:
    text = 'Run:\n\n```python\nif x:\n\tprint("**a** `b` ' + "x" * 60 + '")\n\n```\nDone.'
    lines = shown(text)
    assert lines[2] == "── python " + "─" * 29
    assert lines[3:6] == ["if x:", '\tprint("**a** `b` ' + "x" * 60 + '")', ""]
    assert lines[6:] == ["─" * 39, "Done."]


def test_code_in_a_list_or_a_quote_has_nothing_before_it() -> None:
    text = "1. Run\n   ```sh\n   ls\n     -l\n   ```\n2. Next\n> ~~~\n> a > b\n> ~~~\n"
    lines = shown(text)
    assert lines[2:4] == ["ls", "  -l"]
    assert lines[5] == "2. Next"
    assert lines[7] == "a > b"


def test_an_unclosed_fence_ends_with_the_reply_and_a_quoted_one_with_its_quote() -> None:
    assert shown("```\na\nb") == ["─" * 39, "a", "b", "─" * 39]
    assert shown("```\na\n") == ["─" * 39, "a", "─" * 39]
    assert shown("```") == ["─" * 39, "─" * 39]
    assert shown("> ```\n> a\nout") == ["─" * 39, "a", "─" * 39, "out"]


def test_indented_code_is_left_as_it_is() -> None:
    code = "    def f(**k):\n        return 1"
    assert shown("Code:\n\n" + code + "\n\nText") == ["Code:", "", *code.split("\n"), "", "Text"]


def test_wide_characters_count_twice_and_break_between_each_other() -> None:
    assert shown("東京は日本の首都です。人口は多い。", 10) == [
        "東京は日本",
        "の首都で",
        "す。人口は",
        "多い。",
    ]
    assert shown("ok 🙂🙂🙂🙂 e\u0301e\u0301", 9) == ["ok 🙂🙂🙂", "🙂 e\u0301e\u0301"]


def test_a_long_address_stays_whole() -> None:
    address = "https://example.org/" + "a" * 60
    assert shown(f"See {address} now")[:3] == ["See", address, "now"]


def test_a_notice_in_the_middle_of_a_line_gets_one_of_its_own() -> None:
    stream = MarkdownStream(20, measure, DARK)
    first = stream.feed("- some words are ")
    stream.line_broken()
    assert plain(first) == "• some words are"
    assert plain(stream.feed("here and there ") + stream.flush()) == "  here and there"


def test_headings_and_code_have_styles() -> None:
    sent = streamed("# Big `c`\n\nA `b` **x** *y* ***z*** ~~w~~ [t](u)")
    assert "".join(styled(sent, DARK.sgr["heading"])) == "Big "
    assert styled(sent, DARK.sgr["code"]) == ["c", "b"]
    assert [styled(sent, style) for style in ("1", "3", "1;3", "9")] == [["x"], ["y"], ["z"], ["w"]]
    assert styled(sent, DARK.sgr["link"]) == ["t"]
    assert plain(sent).endswith("t (u)")
