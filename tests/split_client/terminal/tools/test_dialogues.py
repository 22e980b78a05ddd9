"""Twenty calls in one chat of the terminal, in the form of each family."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from split_client.model.tokenizer import ModelTokenizer
from split_client.presets.folder import PresetFolder
from split_client.saved_chats.folder import ChatFolder
from split_client.terminal.chat import ChatLoop
from split_client.terminal.commands.line import Folders
from split_client.terminal.tools.chat_tools import ChatTools
from split_client.terminal.tools.confirming import Confirmation
from split_client.tools.families import CallForm
from split_client.tools.tool import Tool
from tests.split_client.terminal.consoles import RecordingScreen, TypedReader
from tests.split_client.terminal.tools.test_confirming import Pressed
from tests.split_client.tools.dialogues import chat_of, family_names, spelled, tokenizer_of

MESSAGES, CALLS = 4, 5


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelTokenizer]:
    made = tokenizer_of(tmp_path_factory.mktemp("tokenizer"))
    yield made
    made.close()


def script(form: CallForm) -> list[str]:
    calls = [spelled(form, "balance", {"day": day}) for day in range(CALLS)]
    return [*calls, "That is all."] * MESSAGES


@pytest.mark.parametrize("family", family_names())
def test_twenty_calls_are_asked_for_run_and_answered(
    family: str, tokenizer: ModelTokenizer, tmp_path: Path
) -> None:
    chat, maker, template = chat_of(family, tokenizer, script)
    screen, client = RecordingScreen(), SimpleNamespace(cancel=lambda: None, server_cache="exact")
    folders = Folders(ChatFolder(tmp_path), PresetFolder(tmp_path))
    messages: list[Any] = [f"What of day {number}?" for number in range(MESSAGES)]
    parts: Any = (client, chat, TypedReader(messages), screen, folders)
    loop = ChatLoop(*parts)
    schema = {"type": "object", "properties": {"day": {"type": "integer"}}, "required": ["day"]}
    chat.tools = (Tool("balance", "", schema, lambda given: f"{given['day'] * 10} euros"),)
    keys = Pressed(*"y" * CALLS, *"n" * CALLS, "a")
    loop.tools = ChatTools(chat, screen, Confirmation(screen, {"balance": "a program"}, keys))
    loop.run()
    template.close()
    assert maker.texts == []
    assert "error" not in screen.noted.replace("error: the user declined", "")
    results = [message.content for message in chat.messages if message.role == "tool"]
    assert len(results) == MESSAGES * CALLS
    ran = [f"{day * 10} euros" for day in range(CALLS)]
    assert results[:CALLS] == ran
    assert all("declined" in result for result in results[CALLS : 2 * CALLS])
    assert results[2 * CALLS :] == ran * 2
    assert screen.shown.count("That is all.") == MESSAGES
    assert screen.noted.count("the model calls balance, which runs a program") == 20
    assert screen.noted.count("run it?") == 2 * CALLS + 1
