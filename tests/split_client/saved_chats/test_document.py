from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from split_client.chat.conversation import Message
from split_client.errors import ConversationFileInvalid
from split_client.saved_chats.document import (
    MAX_BYTES,
    MAX_MESSAGES,
    SavedConversation,
    document_of,
    load_conversation,
    save_conversation,
)
from split_client.saved_chats.errors import ChatTooLong
from split_client.saved_chats.folder import ChatFolder
from tests.pipes import pipe

SAVED = SavedConversation(
    "tiny", (Message("system", "S"), Message("user", "Grüße \ud800"), Message("assistant", "東京"))
)
DOCUMENT: dict[str, Any] = {
    "format": "gatelink.conversation",
    "version": 1,
    "model": "tiny",
    "messages": [{"role": "user", "content": "Hello"}],
}


def test_a_saved_chat_is_loaded_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    save_conversation(path, SAVED)
    loaded = load_conversation(path)
    assert loaded.model == "tiny"
    assert [message.content for message in loaded.messages] == ["S", "Grüße ?", "東京"]


@pytest.mark.parametrize("noised", [False, True])
def test_a_chat_that_was_sent_with_noise_says_so(tmp_path: Path, noised: bool) -> None:
    path = tmp_path / "chat.json"
    save_conversation(path, replace(SAVED, noised=noised))
    assert load_conversation(path).noised is noised
    assert ("noise" in json.loads(path.read_text())) is noised


def test_a_chat_keeps_its_model_by_the_servers_name_and_by_its_ends(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    digest = "0f" * 32
    save_conversation(path, replace(SAVED, served="b.1", manifest=digest))
    loaded = load_conversation(path)
    assert (loaded.served, loaded.manifest) == ("b.1", digest)
    for served, manifest in ((7, 7), ("../x", "0F" * 32), (None, None)):
        loaded = load(tmp_path, DOCUMENT | {"served": served, "manifest": manifest})
        assert (loaded.served, loaded.manifest) == (None, None)


def test_only_the_owner_can_read_it_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    save_conversation(path, SAVED)
    path.chmod(0o644)
    save_conversation(path, SAVED)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("old")
    with pytest.raises(ConversationFileInvalid, match="not a saved chat"):
        save_conversation(path, SAVED)
    assert path.read_text() == "old"


def test_a_chat_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    folder = tmp_path / "chat.json"
    folder.mkdir()
    with pytest.raises(ConversationFileInvalid):
        save_conversation(folder, SAVED)
    with pytest.raises(ConversationFileInvalid, match="No such file"):
        save_conversation(tmp_path / "none" / "chat.json", SAVED)
    assert list(tmp_path.iterdir()) == [folder]


def load(tmp_path: Path, document: object) -> SavedConversation:
    path = tmp_path / "chat.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return load_conversation(path)


def test_what_is_left_out_and_pinned_is_kept_and_a_hostile_one_is_named(tmp_path: Path) -> None:
    kept = (Message("user", "One. Two.", dropped=((0, 5),)), Message("assistant", "A", pinned=True))
    path = tmp_path / "kept.json"
    save_conversation(path, SavedConversation("tiny", kept))
    assert load_conversation(path).messages == kept
    hostile = {"role": "user", "content": "One.", "dropped": [[0, 1 << 80]]}
    with pytest.raises(ConversationFileInvalid, match="message 0: its 'dropped' are no ranges"):
        load(tmp_path, DOCUMENT | {"messages": [hostile]})


def test_unknown_keys_are_ignored(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hello", "mood": "good"}]
    loaded = load(tmp_path, DOCUMENT | {"future": [1], "messages": messages, "model": None})
    assert loaded == SavedConversation("", (Message("user", "Hello"),))


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ([], "not a saved chat"),
        ({}, "not a saved chat"),
        (DOCUMENT | {"version": 2}, "update split-client"),
        (DOCUMENT | {"messages": {}}, "not a list"),
        (DOCUMENT | {"messages": [1]}, "message 0"),
        (DOCUMENT | {"messages": [{"role": "tool", "content": ""}]}, "message 0"),
        (DOCUMENT | {"messages": [{"role": "user", "content": 5}]}, "message 0"),
        (DOCUMENT | {"messages": [{"role": "system", "content": ""}] * 2}, "second system"),
    ],
)
def test_anything_else_is_refused_with_its_reason(
    document: object, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(ConversationFileInvalid, match=reason) as caught:
        load(tmp_path, document)
    assert caught.value.code == "conversation_file_invalid"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConversationFileInvalid, match=r"none\.json"):
        load_conversation(tmp_path / "none.json")


@pytest.mark.parametrize("version", [True, 1.0, "1", None])
def test_only_the_whole_number_is_the_version(version: object, tmp_path: Path) -> None:
    with pytest.raises(ConversationFileInvalid, match="its version is not 1"):
        load(tmp_path, DOCUMENT | {"version": version})


def test_a_pipe_is_told_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    with (
        pipe(path, json.dumps(DOCUMENT).encode()),
        pytest.raises(ConversationFileInvalid, match="not a regular file"),
    ):
        load_conversation(path)


def test_more_than_could_ever_be_answered_is_neither_loaded_nor_saved(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.touch()
    os.truncate(path, MAX_BYTES + 1)
    with pytest.raises(ConversationFileInvalid, match=f"larger than {MAX_BYTES} bytes"):
        load_conversation(path)
    many = SavedConversation("m", (Message("user", "x"),) * (MAX_MESSAGES + 1))
    with pytest.raises(ConversationFileInvalid, match=f"more than {MAX_MESSAGES} messages"):
        load(tmp_path, document_of(many).decode())
    long = SavedConversation("m", (Message("user", "x" * MAX_BYTES),))
    for saved, reason in ((many, "messages"), (long, "bytes")):
        with pytest.raises(ConversationFileInvalid, match=reason):
            save_conversation(tmp_path / "new.json", saved)
        with pytest.raises(ChatTooLong, match=reason):
            ChatFolder(tmp_path).save("new", saved)
    assert not (tmp_path / "new.json").exists()


def test_many_small_values_are_refused_before_they_are_made(tmp_path: Path) -> None:
    with pytest.raises(ConversationFileInvalid, match="values"):
        load(tmp_path, '{"future": [' + "{}," * 300_000 + "{}]}")
