from __future__ import annotations

import pytest

from split_client.terminal.output.screen import Screen
from tests.split_client.terminal.consoles import FakeTty, RecordingScreen
from tests.split_client.terminal.output.markdown.streams import SGR


def test_replies_go_to_one_stream_and_everything_else_to_the_other() -> None:
    screen = RecordingScreen()
    screen.begin_reply()
    screen.reply("hello")
    screen.end_reply()
    screen.note("a note")
    screen.error("it\nbroke \x1b[31m", "some_code")
    assert screen.shown == "hello\n"
    assert screen.noted == "a note\nerror: it broke [some_code]\n"


def test_an_escape_split_over_pieces_is_removed() -> None:
    screen = RecordingScreen()
    screen.begin_reply()
    for piece in ("a\x1b", "[3", "1mb"):
        screen.reply(piece)
    assert screen.shown == "ab"


def test_an_escape_left_open_does_not_reach_the_next_reply() -> None:
    screen = RecordingScreen()
    for text in ("a\x1b]0;", "b"):
        screen.begin_reply()
        screen.reply(text)
    assert screen.shown == "ab"


def test_a_notice_in_the_middle_of_a_reply_stands_on_its_own_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = RecordingScreen(interactive=True)
    screen.begin_reply()
    screen.reply("half a ")
    screen.note("lost")
    screen.reply("reply")
    screen.end_reply()
    assert screen.shown == "half a\nreply\n"


@pytest.mark.parametrize(("interactive", "shown"), [(True, ""), (False, "\n")])
def test_a_reply_without_text_leaves_no_empty_line_for_a_person(
    interactive: bool, shown: str
) -> None:
    screen = RecordingScreen(interactive=interactive)
    screen.begin_reply()
    screen.reply("")
    screen.end_reply()
    assert screen.shown == shown


@pytest.mark.parametrize(("no_color", "styled"), [("", True), ("1", False)])
def test_colours_are_for_terminals_that_want_them(
    no_color: str, styled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", no_color)
    err = FakeTty()
    Screen(FakeTty(), err).note("note")
    assert ("38;5;" in err.getvalue()) is styled


def test_a_dumb_terminal_gets_no_escape_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    err = FakeTty()
    screen = Screen(FakeTty(), err)
    screen.begin_reply()
    screen.reply("**a** `b`")
    screen.end_reply()
    screen.error("broken", "code")
    assert screen.out.getvalue() == "**a** `b`\n"  # type: ignore[attr-defined]
    assert "\x1b" not in err.getvalue()


@pytest.mark.parametrize(
    ("markdown", "verbatim", "shown"),
    [(True, False, "a b\n"), (False, False, "**a** b\n"), (True, True, "**a** b\n")],
)
def test_markdown_is_rendered_for_a_person_who_wants_it(
    markdown: bool, verbatim: bool, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    screen = RecordingScreen(interactive=True)
    screen.markdown = markdown
    screen.begin_reply(verbatim=verbatim)
    screen.reply("**a** b")
    screen.end_reply()
    assert SGR.sub("", screen.shown) == shown


def test_a_pipe_gets_the_text_as_the_model_wrote_it() -> None:
    screen = RecordingScreen()
    screen.begin_reply()
    screen.reply("# A\n\n| **a** |\n|---|\n")
    screen.end_reply()
    assert screen.shown == "# A\n\n| **a** |\n|---|\n\n"


@pytest.mark.parametrize(
    ("interactive", "no_color", "term", "coloured"),
    [
        (True, "", "xterm-256color", True),
        (True, "1", "xterm-256color", False),
        (True, "", "dumb", False),
        (False, "", "xterm-256color", False),
    ],
)
def test_a_screen_knows_whether_colours_are_wanted_on_it(
    interactive: bool, no_color: str, term: str, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", term)
    assert RecordingScreen(interactive).coloured is coloured
