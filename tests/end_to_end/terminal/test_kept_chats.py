"""Chats and system messages that a terminal keeps by name."""

from __future__ import annotations

import json
from pathlib import Path

from split_client.api import ChatSession, SplitClient
from split_client.presets.builtin import BUILTIN
from split_client.presets.folder import PresetFolder
from split_client.terminal.commands.line import Folders
from tests.end_to_end.terminal.commands import QUESTION, talk


def test_commands_move_the_chat(
    chat: tuple[SplitClient, ChatSession], answer: str, tmp_path: Path
) -> None:
    path = tmp_path / "chat.json"
    screen, reader = talk(
        chat,
        QUESTION,
        f"/save {path}",
        "/new",
        f'/load "{path}"',
        "/edit",
        "/undo",
        QUESTION,
        f"/edit {QUESTION}",
        "/system Be brief.",
        "/system none",
        "/stats",
        "/HELP",
        "/?",
    )
    assert screen.shown.startswith(f"{answer}\n{answer}\n{answer}\n")
    assert "/retry" in screen.shown
    assert QUESTION in reader.drafts
    assert [message.content for message in chat[1].messages] == [QUESTION, answer]
    for words in (
        "saved 2 messages",
        "loaded 2 messages",
        "no system message",
        "exchanges over",
        "not computed again",
    ):
        assert words in screen.noted
    assert "error" not in screen.noted


def test_a_chat_is_kept_by_name_found_and_continued(
    chat: tuple[SplitClient, ChatSession], answer: str
) -> None:
    screen, _ = talk(
        chat,
        QUESTION,
        "/save Split basics",
        "/new",
        "/chats HIDDEN states",
        "/load spl",
        "/save",
        "/rename Was ist das",
        "/chats nothing of that kind",
        "/delete was",
        "/delete Was ist das",
        "/chats",
    )
    assert [message.content for message in chat[1].messages] == [QUESTION, answer]
    listed = screen.shown.removeprefix(f"{answer}\n").splitlines()
    assert listed[0] == "Split basics"
    assert listed[1].endswith("2 messages")
    assert "model: " in listed[2]
    assert "idden states" in listed[2]
    assert screen.noted.splitlines() == [
        "saved 2 messages as “Split basics”; /load brings it back",
        "a new chat",
        "loaded 2 messages of “Split basics”",
        "saved 2 messages as “Split basics”; /load brings it back",
        "“Split basics” is now “Was ist das”",
        "no saved chat has “nothing of that kind”",
        "error: there is no saved chat 'was'; /chats lists them [chat_unknown]",
        "deleted “Was ist das”",
        "the server deleted 56 tokens of this chat",
        "no chats",
    ]


def test_a_chat_that_was_not_loaded_does_not_replace_a_saved_one(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    chat[1].max_tokens = 2
    screen, _ = talk(chat, QUESTION, "/save One", "/new", "Hello", "/save One", "/load One")
    assert "[chat_exists]" in screen.noted
    assert chat[1].messages[0].content == QUESTION


def test_saving_an_emptied_chat_loses_nothing(
    chat: tuple[SplitClient, ChatSession], tmp_path: Path
) -> None:
    chat[1].max_tokens = 2
    path = tmp_path / "chat.json"
    screen, _ = talk(
        chat,
        "/save Nothing",
        QUESTION,
        "/save Trip",
        f"/save {path}",
        "/system Be brief.",
        "/undo",
        "/save",
        f"/save {path}",
        "/load Trip",
    )
    assert screen.noted.count("[chat_empty]") == 3
    assert "'Trip' stays as it was" in screen.noted
    assert "loaded 2 messages of “Trip”" in screen.noted
    assert len(json.loads(path.read_text())["messages"]) == 2


def test_autosave_keeps_every_chat_once(
    chat: tuple[SplitClient, ChatSession], tmp_path: Path
) -> None:
    chat[1].max_tokens = 2
    screen, _ = talk(chat, "Hello", "Again", "/new", "Hello", autosave=True)
    assert screen.noted.count("kept as “") == 2
    names = sorted(path.stem for path in (tmp_path / "data" / "chats").iterdir())
    assert [name[10:] for name in names] == [" Hello", " Hello (2)"]
    sizes = [
        len(json.loads(path.read_text())["messages"])
        for path in (tmp_path / "data" / "chats").iterdir()
    ]
    assert sorted(sizes) == [2, 4]


def test_presets_set_the_system_message(
    chat: tuple[SplitClient, ChatSession], tmp_path: Path
) -> None:
    folders = Folders(presets=PresetFolder(tmp_path / "presets"))
    screen, _ = talk(
        chat,
        "/preset save x",
        "/system @brief",
        "/system @nope",
        "/preset save Mine",
        "/system none",
        "/system @mine",
        "/presets",
        folders=folders,
    )
    assert chat[1].conversation.system == BUILTIN["brief"]
    assert "@mine (yours)" in screen.shown
    assert "[preset_unknown]" in screen.noted
    assert "error: there is no system message to keep" in screen.noted
