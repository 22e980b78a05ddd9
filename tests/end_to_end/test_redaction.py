"""Redaction with a real server and the embedded model: what travels is read by looking rows up."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from scripts.bench.redaction.leaks import leaks
from scripts.bench.redaction.tap import Table, tapped
from scripts.bench.redaction.values import values
from split_client import AsyncSplitClient, SplitClient
from split_client.api import ChatSession, Choice, JsonSchema, RedactionSettings
from split_client.chat.brightness.errors import BrightnessInvalid
from split_client.chat.tool_turns import UNASKED
from split_client.redaction.errors import RedactionInvalid
from split_client.saved_chats.document import (
    SavedConversation,
    load_conversation,
    save_conversation,
)
from split_client.tools.call import ToolCall
from split_client.tools.tool import Tool
from tests.server_process import RunningServer, running_server

IBAN = "DE89 3704 0044 0532 0130 00"
SAID = f"Anna Schmidt pays {IBAN}, +49 170 1234567."
PARTS = ("Anna", "Schmidt", "3704", "0532", "1234567")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def client(
    server: RunningServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=tmp_path_factory.mktemp("cache"), redact=True) as opened:
        yield opened


@pytest.fixture(scope="module")
def table(client: SplitClient) -> Table:
    return Table(client.ends, client.manifest.vocab_size)


def chat_of(client: SplitClient, *said: str, max_tokens: int = 8) -> ChatSession:
    chat = client.conversation("You help Peter Miller.", max_tokens=max_tokens)
    for text in said:
        chat.send(text).read()
    return chat


def told(read: str, *parts: str) -> list[str]:
    """Those of ``parts`` that are in what was ``read``."""
    # Of the surrogates one alone begins like a name here, and is drawn whatever the names are.
    left = re.sub(r"\bPetersen\b", "", read)
    return [part for part in parts if part in left]


def test_planted_numbers_are_read_without_redaction_and_none_of_them_with_it(
    server: RunningServer,
) -> None:
    # Every row travels each time.
    with SplitClient(server.url, server_cache="off") as client:
        rows = client.manifest.vocab_size
        plain = leaks(client, values(6, 1), rows, redact=False)
        assert len(plain.leaked) == plain.planted.total() == 60
        assert leaks(client, values(30, 2), rows).leaked == []


def test_no_value_travels_in_messages_files_forms_stops_and_drafts(
    client: SplitClient, table: Table
) -> None:
    with tapped() as frames:
        chat = client.conversation("You help Peter Miller.", max_tokens=60)
        chat.stop = "Peter Miller"
        chat.expected = f"As Anna Schmidt said: {SAID}"
        chat.send("What does she pay?", [f"notes.txt:\n{SAID}", SAID]).read()
        chat.expected = None
        chat.form = Choice((f"Anna Schmidt pays to {IBAN}",))
        reply = chat.send("Say it.")
        assert reply.read() == f"Anna Schmidt pays to {IBAN}"
        chat.form = None
        chat.conversation.amend("Anna Schmidt pays")
        chat.go_on().read()
        chat.close()
    read = table.read(frames)
    assert "pays" in read
    assert told(read, *PARTS, "Peter", "Miller") == []


def test_a_form_is_filled_with_surrogates_and_its_value_is_the_real_one(
    client: SplitClient,
) -> None:
    schema = {
        "type": "object",
        "properties": {"who": {"const": 'Anna "Ann" Schmidt'}, "to": {"const": IBAN}},
        "required": ["who", "to"],
        "additionalProperties": False,
    }
    reply = client.chat(SAID, form=schema, max_tokens=200)
    text = reply.read()
    assert reply.value == {"who": 'Anna "Ann" Schmidt', "to": IBAN}
    assert json.loads(text) == reply.value
    assert "Anna" not in reply.written
    assert isinstance(chat_of(client).redaction.form(JsonSchema.of(schema)), JsonSchema)


def test_a_later_turn_sends_new_tokens_alone(client: SplitClient) -> None:
    chat = chat_of(client, SAID)
    reply = chat.send("And Anna?")
    reply.read()
    assert reply.stats.prompt_held > reply.stats.prompt_tokens // 2
    assert chat.messages[1].content == SAID


def test_a_reply_goes_on_and_another_way_with_values_in_it(client: SplitClient) -> None:
    whole = client.conversation(max_tokens=60)
    whole.form = Choice((f"It was Anna Schmidt who paid to {IBAN} in May.",))
    text = whole.send(SAID).read()
    cut = client.conversation(max_tokens=9)
    cut.redaction.load(whole.redaction.document())
    cut.form = whole.form
    cut.send(SAID).read()
    cut.max_tokens = 60
    reply = cut.go_on()
    reply.read()
    assert reply.beginning + reply.text == text
    assert cut.messages[-1].content == text
    tokens = cut.tokens
    assert "Anna" not in "".join(token.text for token in tokens)


def test_a_saved_chat_goes_on_with_its_map(
    client: SplitClient, table: Table, tmp_path: Path
) -> None:
    chat = chat_of(client, SAID)
    path = tmp_path / "chat.json"
    save_conversation(path, SavedConversation("m", chat.messages, False, chat.redaction.document()))
    assert path.stat().st_mode & 0o077 == 0
    saved = load_conversation(path)
    assert saved.redaction == chat.redaction.document()
    # Switched on by the file alone.
    with SplitClient(f"http://{client.endpoint.host}:{client.endpoint.port}") as plain:
        other = plain.conversation(max_tokens=4)
        other.conversation.replace(saved.messages)
        other.redaction.load(saved.redaction)
        assert other.conversation.before_reply().ids == chat.conversation.before_reply().ids
        with tapped() as frames:
            other.send("Does Anna know?").read()
            other.close()
    assert other.redaction.entries == chat.redaction.entries
    assert told(table.read(frames), *PARTS) == []


def test_another_chat_has_another_map(client: SplitClient) -> None:
    chat = chat_of(client, SAID)
    before = chat.redaction.entries
    chat.conversation.clear()
    chat.send(SAID).read()
    assert chat.redaction.entries != before


def test_arguments_are_undone_for_a_call_that_was_confirmed_and_for_no_other(
    client: SplitClient, table: Table
) -> None:
    asked, got = list[ToolCall](), list[str]()

    def find(name: Literal["Anna Schmidt"]) -> str:
        """Look Anna Schmidt up."""
        got.append(name)
        return f"{name}, {IBAN}"

    def confirmed(call: ToolCall, _: Tool) -> bool:
        asked.append(call)
        return True

    with tapped() as frames:
        run = client.run(SAID, [find], choice="required", max_tokens=60, allow=confirmed)
    assert asked[0].values() == {"name": "Anna Schmidt"}
    assert got == ["Anna Schmidt"]
    assert run.messages[2].content == f"Anna Schmidt, {IBAN}"
    assert told(table.read(frames), *PARTS) == []
    with tapped() as frames:
        client.run(SAID, [find], choice="required", max_tokens=60, allow=lambda *_: UNASKED)
    assert got[1] != "Anna Schmidt"
    assert told(table.read(frames), *PARTS) == []


def test_what_went_out_before_is_redacted_from_the_next_message_on(
    client: SplitClient, table: Table
) -> None:
    chat = client.conversation(redact=False, max_tokens=4)
    with tapped() as frames:
        chat.send(SAID).read()
    assert "Schmidt" in table.read(frames)
    chat.redact()
    with tapped() as frames:
        chat.send("Go on.").read()
    assert told(table.read(frames), *PARTS) == []


def test_what_the_server_keeps_is_forgotten_by_what_was_sent(client: SplitClient) -> None:
    chat = chat_of(client, SAID)
    sent = len(chat.conversation.before_reply().ids)
    assert chat.forget().positions >= sent


def test_chats_without_a_session_of_their_own_share_a_map(
    client: SplitClient, table: Table
) -> None:
    with tapped() as frames:
        reply = client.chat(SAID, max_tokens=3)
        reply.read()
        history = [
            {"role": "user", "content": SAID},
            {"role": "assistant", "content": reply.text},
            {"role": "user", "content": "And Schmidt?"},
        ]
        client.chat(history, max_tokens=3).read()
        client.generate(SAID, max_tokens=3).read()
    assert told(table.read(frames), *PARTS) == []


def test_brightness_and_redaction_exclude_each_other(client: SplitClient) -> None:
    chat = client.conversation()
    with pytest.raises(BrightnessInvalid):
        chat.brighten = "mean"
    chat.redact(False)
    chat.brighten = "mean"
    with pytest.raises(RedactionInvalid):
        chat.redact()


def test_an_asynchronous_chat_is_redacted_too(server: RunningServer, table: Table) -> None:
    async def talk() -> list[bytes]:
        async with AsyncSplitClient(server.url, redact=RedactionSettings()) as client:
            chat = await client.conversation(max_tokens=3)
            with tapped() as frames:
                await chat.send(SAID).read()
            return frames

    assert told(table.read(asyncio.run(talk())), *PARTS) == []


def terminal(*arguments: str, given: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "split_client.cli", *arguments]
    environ = {"SPLIT_CONFIG": str(tmp_path / "none.toml"), "LANG": "de_DE.UTF-8"}
    (tmp_path / "none.toml").write_text("")
    return subprocess.run(
        command,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environ},
    )


def test_the_terminal_says_what_is_on_shows_the_map_and_previews(
    server: RunningServer, tmp_path: Path
) -> None:
    names = tmp_path / "names.txt"
    names.write_text("# mine\nNgozi Adichie\n")
    given = "\n".join(
        (
            "/redact",
            "/redact preview Ngozi has 0170 1234567",
            "Ngozi Adichie and Anna Schmidt pay " + IBAN,
            "/redact map",
            "/redact name Quux",
            "/redact dates on",
            "/redact off",
            "/redact nonsense",
            "/quit",
        )
    )
    done = terminal(
        "chat", "-u", server.url, "--redact", "--redact-names", str(names), "-m", "3",
        given=given, tmp_path=tmp_path,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "redaction is on for names, emails" in said
    assert "regions: DE" in said
    assert "first name: Ngozi →" in said
    assert "IBAN: DE89 3704" in said
    assert "redaction is off" in said
    assert "Ngozi has" not in said
    assert "/redact is followed by on, off" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("--redact-region", "DE"),
        ("--redact", "--redact-region", "XX"),
        ("--redact", "--redact-names", "/does/not/exist"),
        ("--redact", "--redact-kinds", "pets"),
    ],
)
def test_flags_that_cannot_be_are_refused(
    server: RunningServer, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = terminal("generate", "-u", server.url, *arguments, "hi", given="", tmp_path=tmp_path)
    assert done.returncode == 2
    assert "redact" in done.stderr
