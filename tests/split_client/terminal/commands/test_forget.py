from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from split_client.api import Forgotten, Message, Purged
from split_client.errors import ConnectionLost
from split_client.saved_chats.document import SavedConversation
from split_client.terminal.commands.forget import Forget
from split_client.terminal.sampling import SettingInvalid

MESSAGES = (Message("user", "hello"), Message("assistant", "hi"))


@dataclass
class Client:
    server_cache: str = "exact"
    manifest: Any = field(default_factory=lambda: SimpleNamespace(name="m"))
    asked: list[Any] = field(default_factory=list)

    def forget(self, messages: Any) -> Forgotten:
        self.asked.append(messages)
        return Forgotten(32)

    def forget_all(self) -> Purged:
        self.asked.append("all")
        return Purged(1, 100)

    def route_anew(self) -> None:
        self.asked.append("another routing id")


class Chat:
    def __init__(self) -> None:
        self.texts: list[bool] = []

    def forget(self, *, texts: bool) -> Forgotten:
        self.texts.append(texts)
        return Forgotten(64, 16)


class Lost(Chat):
    def forget(self, *, texts: bool) -> Forgotten:
        raise ConnectionLost("gone")


@dataclass
class Notes:
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)


def made(
    chat: Any = None, *, noised: bool = False, **about: Any
) -> tuple[Forget, Client, list[str]]:
    client, notes = Client(**about), Notes()
    any_client: Any = client
    any_notes: Any = notes
    turns: Any = SimpleNamespace(noised=noised)
    return Forget(any_client, chat or Chat(), any_notes, turns), client, notes.notes


def test_what_is_kept_of_the_chat_is_deleted_and_the_chat_goes_on() -> None:
    forget, client, notes = made()
    assert forget.run("") == "stay"
    assert notes == [
        "the server deleted 48 tokens of this chat; 16 stay, because other chats begin with them",
        "the chat goes on; the next message sends all of it again",
    ]
    assert client.asked == ["another routing id"]


def test_what_is_kept_of_all_chats_is_deleted() -> None:
    forget, client, notes = made()
    forget.run("all")
    assert client.asked == ["all", "another routing id"]
    assert notes[0] == "the server deleted 100 B that it kept of your chats"


def test_other_words_behind_it_are_refused() -> None:
    with pytest.raises(SettingInvalid):
        made()[0].run("everything")


def test_where_nothing_is_kept_it_says_so() -> None:
    forget, _, notes = made(server_cache="off")
    forget.run("")
    assert "asked to keep nothing" in notes[0]


def test_a_chat_that_is_deleted_here_is_deleted_there() -> None:
    forget, client, notes = made()
    forget.saved(SavedConversation("m", MESSAGES), open_here=False)
    assert client.asked == [[message.as_dict() for message in MESSAGES]]
    assert notes == ["the server deleted 32 tokens of this chat"]


@pytest.mark.parametrize(
    ("saved", "why"),
    [
        (None, "could not be read"),
        (SavedConversation("other", MESSAGES), "another model's, other"),
        (SavedConversation("m", MESSAGES, noised=True), "sent with noise"),
    ],
)
def test_what_cannot_be_asked_for_is_told(saved: SavedConversation | None, why: str) -> None:
    forget, client, notes = made()
    forget.saved(saved, open_here=False)
    assert client.asked == []
    assert why in notes[0]
    assert "/forget all deletes it" in notes[0]


def test_a_server_that_is_gone_keeps_what_it_keeps_and_that_is_told() -> None:
    forget, _, notes = made(Lost())
    forget.saved(SavedConversation("m", MESSAGES), open_here=True)
    assert "was not deleted there" in notes[0]


@pytest.mark.parametrize("noised", [False, True])
def test_a_chat_that_was_sent_with_noise_is_not_asked_for_by_its_text(noised: bool) -> None:
    chat = Chat()
    forget, _, _ = made(chat, noised=noised)
    forget.run("")
    forget.saved(SavedConversation("m", MESSAGES, noised), open_here=True)
    assert chat.texts == [not noised] * 2
