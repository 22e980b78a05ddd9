from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from split_client.terminal.errors import InputNotText, InputTooLong
from split_client.terminal.input import piped
from split_client.terminal.input.piped import is_piped, joined, read_piped


def test_a_prompt_stands_before_what_was_piped() -> None:
    assert joined("Summarise:", "one\ntwo") == "Summarise:\n\none\ntwo"
    assert joined("Summarise:", "") == "Summarise:"


def test_pipes_and_files_are_read_terminals_and_nothing_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    reading, writing = os.pipe()
    person, terminal = os.openpty()
    ends = (reading, os.open(tmp_path / "file", os.O_RDONLY), terminal, os.open("/dev/null", 0))
    seen = []
    for end in ends:
        with os.fdopen(end) as opened:
            monkeypatch.setattr("sys.stdin", opened)
            seen.append(is_piped())
    for nothing in (None, io.StringIO("x")):
        monkeypatch.setattr("sys.stdin", nothing)
        seen.append(is_piped())
    os.close(writing)
    os.close(person)
    assert seen == [True, True, False, False, False, False]


def test_a_pipe_that_says_nothing_is_told_once_and_then_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(piped, "_PATIENCE_SECONDS", 0.01)
    reading, writing = os.pipe()
    told: list[bool] = []

    def waiting() -> None:
        told.append(True)
        os.write(writing, "spät".encode())
        os.close(writing)

    with os.fdopen(reading) as opened:
        monkeypatch.setattr("sys.stdin", opened)
        assert read_piped(waiting) == "spät"
    assert told == [True]


@pytest.mark.parametrize(
    ("data", "error"), [(b"12345678\xff", InputNotText), (b"123456789012", InputTooLong)]
)
def test_input_is_text_within_bounds(
    data: bytes, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(piped, "MAX_BYTES", 10)
    (tmp_path / "file").write_bytes(data)
    with (tmp_path / "file").open() as opened:
        monkeypatch.setattr("sys.stdin", opened)
        with pytest.raises(error):
            read_piped()
