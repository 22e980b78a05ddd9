from __future__ import annotations

import json
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from split_client.terminal.input.history import LONGEST_BYTES, MAX_BYTES, MOST_ENTRIES, HistoryFile
from split_client.terminal.input.reader import PromptReader
from split_files import take_lock
from tests.pipes import pipe


def test_entries_come_back_as_they_were_typed(tmp_path: Path) -> None:
    typed = ["one", "two\nlines", "ünï \U0001f600 \x1b[0m", "\ud800"]
    for text in typed:
        HistoryFile(tmp_path / "history").add(text)
    assert HistoryFile(tmp_path / "history").entries() == typed


def test_the_file_is_its_owners_and_so_is_its_folder(tmp_path: Path) -> None:
    history = HistoryFile(tmp_path / "data" / "history")
    history.add("one")
    assert history.path.stat().st_mode & 0o777 == 0o600
    assert history.path.parent.stat().st_mode & 0o777 == 0o700


def test_repeated_hidden_empty_and_long_entries_are_not_kept(tmp_path: Path) -> None:
    history = HistoryFile(tmp_path / "history")
    for text in ("one", "one", " secret", "", "  ", "x" * LONGEST_BYTES, "two", "one"):
        history.add(text)
    assert history.entries() == ["one", "two", "one"]


def test_the_oldest_make_way(tmp_path: Path) -> None:
    history = HistoryFile(tmp_path / "history")
    lines = [json.dumps(f"{n}") for n in range(MOST_ENTRIES)]
    history.path.write_text("\n".join(lines) + "\n")
    history.add("new")
    assert history.entries() == [*map(str, range(1, MOST_ENTRIES)), "new"]
    long = "y" * (LONGEST_BYTES - 10)
    history.path.write_text((json.dumps(long) + "\n") * (MAX_BYTES // LONGEST_BYTES))
    for number in range(3):
        history.add(f"{number}{long[2:]}")
    assert MAX_BYTES - LONGEST_BYTES < history.path.stat().st_size <= MAX_BYTES


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[1]\n{}\n3\nnull\n", b"[" * 100_000, b"x" * (2 * MAX_BYTES + 1)]
)
def test_a_damaged_file_counts_as_empty_and_is_replaced(tmp_path: Path, content: bytes) -> None:
    history = HistoryFile(tmp_path / "history")
    history.path.write_bytes(content)
    assert history.entries() == []
    history.add("one")
    assert history.entries() == ["one"]


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    with pipe(tmp_path / "history", b'"x"\n'):
        assert HistoryFile(tmp_path / "history").entries() == []


def in_chat(history: HistoryFile, *keys: str, told: list[str] | None = None) -> list[str | None]:
    answers: list[str | None] = []
    with create_pipe_input() as typed, create_app_session(input=typed, output=DummyOutput()):
        reader = PromptReader(history=history, complain=([] if told is None else told).append)
        for each in keys:
            typed.send_text(each)
            answers.append(reader.read())
    return answers


def test_the_arrow_keys_bring_back_what_an_earlier_chat_had(tmp_path: Path) -> None:
    history = HistoryFile(tmp_path / "history")
    in_chat(history, "first\r", "second\r")
    assert in_chat(history, "\x1b[A\x1b[A\r") == ["first"]


def test_a_folder_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[str] = []
    assert in_chat(HistoryFile(tmp_path / "file" / "history"), "a\r", "b\r", told=told) == [
        "a",
        "b",
    ]
    assert len(told) == 1
    assert "--no-history" in told[0]


def test_another_chat_that_writes_is_not_waited_for(tmp_path: Path) -> None:
    history, told = HistoryFile(tmp_path / "history"), list[str]()
    with take_lock(tmp_path / "history.lock"):
        assert in_chat(history, "a\r", told=told) == ["a"]
    assert (told, history.path.exists()) == ([], False)
