from __future__ import annotations

import io
import os
import pty
import termios

import pytest

from split_client.terminal.input.unseen import keys_unseen


def test_a_terminal_shows_no_key_inside_and_is_as_before_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    person, command = pty.openpty()
    with os.fdopen(command, "r") as stdin, os.fdopen(person, "wb", 0) as keys:
        monkeypatch.setattr("sys.stdin", stdin)
        before = termios.tcgetattr(command)
        with keys_unseen():
            inside = termios.tcgetattr(command)[3]
            keys.write(b"typed")
        assert not inside & (termios.ECHO | termios.ICANON)
        assert inside & termios.ISIG
        assert termios.tcgetattr(command) == before
        with pytest.raises(KeyboardInterrupt):
            _interrupted()
        assert termios.tcgetattr(command) == before
        with keys_unseen():
            assert os.read(command, 100) == b"typed"


def _interrupted() -> None:
    with keys_unseen():
        raise KeyboardInterrupt


@pytest.mark.parametrize("stdin", [None, io.StringIO("x")])
def test_what_is_no_terminal_is_left_alone(
    stdin: io.StringIO | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", stdin)
    entered = False
    with keys_unseen():
        entered = True
    assert entered
