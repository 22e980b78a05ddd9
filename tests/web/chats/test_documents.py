"""Chats travel between the web app and the terminal client as documents, in both directions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from split_client.chat.conversation import Message
from split_client.errors import ConversationFileInvalid
from split_client.saved_chats.document import (
    SavedConversation,
    load_conversation,
    save_conversation,
)
from tests.web.generation_peers import ask

HARD = (
    "plain",
    "Grüße aus 東京! 👍🏽 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    'quotes " and \\ and / and \x7f\x01\t\r\n\u2028\u2029',
    "<script>alert(1)</script> \u202eright to left\ufeff",
    "e\u0301 and \u00e9, \ufffe \ud7ff\ue000\U0010ffff",
    "x" * 100_000,
)


def _exchange(
    documents: list[str], contents: list[list[str]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    answer = ask("chats/documents.js", {"documents": documents, "contents": contents})
    return answer["documents"], answer["grown"]


def test_the_terminal_reads_what_the_web_app_exports(tmp_path: Path) -> None:
    _, grown = _exchange([], [["be brief", *HARD], ["", *HARD], ["", "one"]])
    for index, chat in enumerate(grown):
        path = tmp_path / f"{index}.json"
        path.write_text(chat["exported"], "utf-8")
        saved = load_conversation(path)
        assert saved.model == "tiny"
        assert [message.as_dict() for message in saved.messages] == chat["messages"]


def test_the_web_app_imports_what_the_terminal_saves(tmp_path: Path) -> None:
    turns = [Message(("user", "assistant")[index % 2], text) for index, text in enumerate(HARD)]
    chats = [
        SavedConversation("tiny", (Message("system", "be brief"), *turns)),
        SavedConversation("", tuple(turns)),
        SavedConversation("m", (turns[0], turns[0], turns[1], turns[1])),
        SavedConversation("m", (turns[1],)),
        SavedConversation("m", ()),
        SavedConversation(
            "m",
            (
                Message("system", "be brief", dropped=((0, 3),), pinned=True),
                replace(turns[0], dropped=((0, 5),)),
                replace(turns[1], dropped=((0, 6), (7, len(HARD[1]))), pinned=True),
                replace(turns[2], pinned=True),
            ),
        ),
    ]
    texts = []
    for index, chat in enumerate(chats):
        save_conversation(tmp_path / f"{index}.json", chat)
        texts.append((tmp_path / f"{index}.json").read_text("utf-8"))
    imported, _ = _exchange(texts, [])
    for index, (chat, read) in enumerate(zip(chats, imported, strict=True)):
        assert read["messages"] == [message.as_dict() for message in chat.messages]
        assert read["model"] == chat.model
        # And back again, with the branches of the web app beside them.
        path = tmp_path / f"back-{index}.json"
        path.write_text(read["exported"], "utf-8")
        assert load_conversation(path) == chat


_GOOD = {"format": "gatelink.conversation", "version": 1, "model": "", "messages": []}


@pytest.mark.parametrize(
    "document",
    [
        [],
        _GOOD | {"format": "x"},
        _GOOD | {"version": 2},
        _GOOD | {"messages": None},
        _GOOD | {"messages": ["x"]},
        _GOOD | {"messages": [{"role": "user"}]},
        _GOOD | {"messages": [{"role": "tool", "content": "x"}]},
        _GOOD | {"messages": [{"role": "user", "content": 5}]},
        _GOOD | {"messages": [{"role": "user", "content": "x"}, {"role": "system", "content": ""}]},
        _GOOD | {"messages": [{"role": "user", "content": "x", "dropped": [[0, 2]]}]},
        _GOOD | {"messages": [{"role": "user", "content": "xyz", "dropped": [[0, 2], [1, 3]]}]},
    ],
)
def test_what_one_of_them_refuses_the_other_refuses_with_the_same_code(
    tmp_path: Path, document: Any
) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(ConversationFileInvalid) as caught:
        load_conversation(path)
    imported, _ = _exchange([path.read_text("utf-8")], [])
    assert imported == [{"code": caught.value.code}]
