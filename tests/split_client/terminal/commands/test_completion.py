from __future__ import annotations

from pathlib import Path

import pytest

from split_client.presets.folder import PresetFolder
from split_client.saved_chats.document import SavedConversation
from split_client.saved_chats.folder import ChatFolder
from split_client.terminal.commands.completion import Completion


@pytest.fixture
def completion(tmp_path: Path) -> Completion:
    chats = ChatFolder(tmp_path / "chats")
    for name in ("Trip to Rome", "Trip to Oslo", "Cooking"):
        chats.save(name, SavedConversation("tiny", ()))
    names = ("load", "save", "set", "system", "stats", "new")
    return Completion(names, chats, PresetFolder(tmp_path / "presets"))


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("/s", ["/save", "/set", "/stats", "/system"]),
        ("/LO", ["/load"]),
        ("/zzz", []),
        ("/load cook", ["/load Cooking"]),
        ("/set temp", ["/set temperature"]),
        ("/system @t", ["/system @teacher", "/system @translator"]),
        ("/new ", []),
        ("//load", []),
        ("load", []),
        ("/load\n", []),
        ("", []),
    ],
)
def test_lines_are_offered_that_begin_so(
    completion: Completion, line: str, offered: list[str]
) -> None:
    assert completion.offer(line) == offered


def test_chats_are_offered_whatever_their_case(completion: Completion) -> None:
    assert sorted(completion.offer("/load TRIP")) == ["/load Trip to Oslo", "/load Trip to Rome"]
    assert len(completion.offer("/load ")) == 3


def test_a_folder_that_fails_offers_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    broken = Completion(("load",), ChatFolder(tmp_path / "file"), PresetFolder(tmp_path / "none"))
    assert broken.offer("/load x") == []
