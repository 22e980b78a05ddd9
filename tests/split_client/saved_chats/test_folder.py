from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from split_client.chat.conversation import Message
from split_client.errors import ConversationFileInvalid
from split_client.saved_chats.document import SavedConversation
from split_client.saved_chats.errors import (
    ChatChanged,
    ChatExists,
    ChatNameInvalid,
    ChatsFolderFailed,
    ChatUnknown,
)
from split_client.saved_chats.folder import ChatFolder, default_folder


def chat(text: str) -> SavedConversation:
    return SavedConversation("tiny", (Message("user", text), Message("assistant", "So.")))


@pytest.fixture
def folder(tmp_path: Path) -> ChatFolder:
    return ChatFolder(tmp_path / "chats")


def said(folder: ChatFolder, name: str) -> str:
    return folder.load(name)[1].messages[0].content


def test_a_chat_is_kept_by_name_and_found_by_its_beginning(folder: ChatFolder) -> None:
    folder.save("Trip to Rome", chat("one"))
    folder.save("Trip to Oslo", chat("two"))
    assert said(folder, "trip to r") == "one"
    assert said(folder, "TRIP TO OSLO") == "two"
    path = folder.path / "Trip to Rome.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


@pytest.mark.parametrize(("name", "told"), [("trip", "'Trip to"), ("x", "no saved"), ("", "no")])
def test_a_name_that_is_none_or_several_is_told(folder: ChatFolder, name: str, told: str) -> None:
    folder.save("Trip to Rome", chat("one"))
    folder.save("Trip to Oslo", chat("two"))
    with pytest.raises(ChatUnknown, match=told):
        folder.load(name)


def test_the_whole_name_wins_over_longer_ones(folder: ChatFolder) -> None:
    folder.save("Trip", chat("one"))
    folder.save("Trip 2", chat("two"))
    assert said(folder, "trip") == "one"


def test_another_chat_of_the_name_is_not_lost(folder: ChatFolder) -> None:
    folder.save("Trip", chat("old"))
    for name in ("Trip", "TRIP"):
        with pytest.raises(ChatExists, match="Trip"):
            folder.save(name, chat("new"))
    assert said(folder, "trip") == "old"


def test_a_chat_is_saved_again_where_it_was(folder: ChatFolder) -> None:
    kept = folder.save("Trip", chat("one"))
    kept = folder.save("trip", chat("two"), kept)
    assert (kept.name, said(folder, "Trip")) == ("Trip", "two")
    loaded, _ = folder.load("Trip")
    folder.save("Trip", chat("three"), loaded)
    assert said(folder, "Trip") == "three"
    assert len(folder.files()) == 1


def test_what_was_changed_elsewhere_is_not_lost(folder: ChatFolder) -> None:
    mine = folder.save("Trip", chat("one"))
    theirs, _ = folder.load("Trip")
    folder.save("Trip", chat("theirs"), theirs)
    with pytest.raises(ChatChanged):
        folder.save("Trip", chat("mine"), mine)
    assert said(folder, "Trip") == "theirs"
    assert folder.save("Trip mine", chat("mine"), mine).name == "Trip mine"


def test_one_that_was_deleted_elsewhere_is_written_again(folder: ChatFolder) -> None:
    kept = folder.save("Trip", chat("one"))
    folder.delete("Trip")
    folder.save("Trip", chat("two"), kept)
    assert said(folder, "Trip") == "two"


def test_a_chat_is_renamed_but_not_onto_another(folder: ChatFolder) -> None:
    folder.save("One", chat("1"))
    folder.save("Two", chat("2"))
    with pytest.raises(ChatExists):
        folder.rename("One", "two")
    with pytest.raises(ChatNameInvalid):
        folder.rename("One", "../out")
    assert folder.rename("on", "Three") == ("One", "Three")
    assert sorted(file.name for file in folder.files()) == ["Three", "Two"]


def test_only_the_whole_name_deletes(folder: ChatFolder) -> None:
    folder.save("Trip to Rome", chat("one"))
    with pytest.raises(ChatUnknown):
        folder.delete("Trip")
    assert folder.delete("trip to rome") == "Trip to Rome"
    assert folder.files() == []


def test_a_damaged_chat_is_named_and_left_alone(folder: ChatFolder) -> None:
    kept = folder.save("Trip", chat("one"))
    path = folder.path / "Trip.json"
    path.write_text('{"format": "gatelink.conv')
    with pytest.raises(ConversationFileInvalid, match=r"Trip\.json: it is not JSON"):
        folder.load("Trip")
    with pytest.raises(ChatChanged):
        folder.save("Trip", chat("two"), kept)
    assert path.read_text() == '{"format": "gatelink.conv'


def test_other_files_in_the_folder_are_no_chats(folder: ChatFolder) -> None:
    folder.save("Trip", chat("one"))
    (folder.path / "notes.txt").write_text("x")
    (folder.path / ".half.json").write_text("x")
    (folder.path / "sub.json").mkdir()
    (folder.path / "gone.json").symlink_to(folder.path / "nowhere")
    assert [file.name for file in folder.files()] == ["Trip"]


def test_the_chat_that_was_changed_last_comes_first(folder: ChatFolder) -> None:
    for index, name in enumerate(("a", "b", "c")):
        folder.save(name, chat(name))
        os.utime(folder.path / f"{name}.json", (1000 - index, 1000 - index))
    assert [file.name for file in folder.files()] == ["a", "b", "c"]


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    folder = ChatFolder(tmp_path / "file")
    with pytest.raises(ChatsFolderFailed, match="--chats"):
        folder.files()
    with pytest.raises(ChatsFolderFailed):
        folder.save("Trip", chat("one"))
    assert ChatFolder(tmp_path / "none").files() == []


def test_the_folder_is_under_split_data(tmp_path: Path) -> None:
    assert default_folder({"SPLIT_DATA": str(tmp_path)}) == tmp_path / "chats"
    assert default_folder({}).name == "chats"
