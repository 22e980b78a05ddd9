from __future__ import annotations

import pytest

from split_client.terminal.output.markdown.inline import parsed
from split_client.terminal.output.theme import DARK, MONO, Style


def text_of(markdown: str, *, marks: bool = False) -> str:
    return "".join(text for text, _ in parsed(markdown, Style(), marks))


def emphasis(markdown: str) -> str:
    """With b, i and s around what is bold, italic and struck."""
    shown, before = "", Style()
    for text, style in [*parsed(markdown, Style(), False), ("", Style())]:
        for flag, letter in (("bold", "b"), ("italic", "i"), ("struck", "s")):
            if getattr(style, flag) != getattr(before, flag):
                shown += f"<{letter}>" if getattr(style, flag) else f"</{letter}>"
        shown, before = shown + text, style
    return shown


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("**a** *b* _c_ __d__", "<b>a</b> <i>b</i> <i>c</i> <b>d</b>"),
        ("***a***", "<b><i>a</b></i>"),
        ("**a *b* c**", "<b>a <i>b</i> c</b>"),
        ("*a **b***", "<i>a <b>b</b></i>"),
        ("~~a~~ ~b~", "<s>a</s> ~b~"),
        ("2 * 3 * 4, snake_case_name, *.py", "2 * 3 * 4, snake_case_name, *.py"),
        ("**open and *open", "**open and *open"),
        ("** a **", "** a **"),
        ("**「強」**です", "<b>「強」</b>です"),
        (r"\*a\* \\ \d", r"*a* \ \d"),
        ("****a****", "****a****"),
        ("**a `**` b**", "<b>a ** b</b>"),
        ("**a `b** c", "<b>a `b</b> c"),
    ],
)
def test_emphasis_is_that_of_commonmark(markdown: str, shown: str) -> None:
    assert emphasis(markdown) == shown


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("`a`", "a"),
        ("`` a`b ``", "a`b"),
        ("`a", "`a"),
        ("``", "``"),
        ("`*a*`", "*a*"),
    ],
)
def test_code_is_taken_as_it_is(markdown: str, shown: str) -> None:
    assert text_of(markdown) == shown


def test_where_no_colour_tells_code_its_marks_stay() -> None:
    assert text_of("a `b`", marks=MONO.marks) == "a `b`"
    assert not DARK.marks


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("[a](https://x.org/y_(z))", "a (https://x.org/y_(z))"),
        ("[https://x.org](https://x.org)", "https://x.org"),
        ("![a *b*](c.png)", "a b (c.png)"),
        ("[](u)", "(u)"),
        ("[a] (b)", "[a] (b)"),
        ("[a][b] [c", "[a][b] [c"),
        ("[a](b", "[a](b"),
        ("[a]", "[a]"),
        ("<https://x.org>", "https://x.org"),
        ("a < b <i> <https://x y>", "a < b <i> <https://x y>"),
        ("Wow! !", "Wow! !"),
    ],
)
def test_a_link_is_followed_by_its_target(markdown: str, shown: str) -> None:
    assert text_of(markdown) == shown
