from __future__ import annotations

import io
import os
import pty
import termios

import pytest

from split_client.terminal.output.fold import columns, cut, fold, rows
from split_client.terminal.output.screen import Screen
from tests.split_client.terminal.consoles import FakeTty

TEXT = "error: the model is elsewhere /a/path/that/is/longer/than-the/line"


def test_a_terminal_gets_whole_words_and_a_hanging_indent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "21")
    assert fold(TEXT, FakeTty(), 2).splitlines() == [
        "error: the model is",
        "  elsewhere",
        "  /a/path/that/is/longer/than-the/line",
    ]


def test_wide_characters_count_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "21")
    assert fold("東京は日本の首都です。人口は多い", FakeTty(), 2).splitlines() == [
        "東京は日本の首都で",
        "  す。人口は多い",
    ]
    assert (cut("東京は日本", 7), cut("Tokyo", 5), cut("Tokyo Rome", 7)) == (
        "東京は…",
        "Tokyo",
        "Tokyo…",
    )


def test_a_pipe_gets_one_line() -> None:
    assert fold(TEXT * 9, io.StringIO()) == TEXT * 9


def test_the_width_is_that_of_the_stream_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "33")
    assert columns(io.StringIO()) == 33
    master, slave = pty.openpty()
    os.close(master)
    with os.fdopen(slave, "w") as stream:
        assert columns(stream) == 33


def test_the_size_of_a_terminal_is_asked_from_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "7")
    assert rows(io.StringIO()) == 7
    master, slave = pty.openpty()
    with os.fdopen(master), os.fdopen(slave, "w") as stream:
        termios.tcsetwinsize(slave, (36, 40))
        assert (rows(stream), columns(stream)) == (36, 40)


def test_notes_and_errors_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "dumb")
    err = FakeTty()
    screen = Screen(io.StringIO(), err)
    screen.note("some words that do not fit on one line")
    screen.error("some words that do not fit either", "some_code")
    assert all(len(line) < 30 for line in err.getvalue().splitlines())
    assert len(err.getvalue().splitlines()) == 4
