"""The chat as a person meets it: in a pseudo-terminal, against the real server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from split_client import SplitClient
from split_client.chat.conversation import Message
from split_client.saved_chats.document import SavedConversation, document_of
from tests.server_process import RunningServer, running_server
from tests.terminals import Terminal, terminal

QUESTION = "What is split inference?"
CHAT = ("split_client.cli", "chat", "--temperature=0", "--max-tokens=6")


def _client(*arguments: str) -> AbstractContextManager[Terminal]:
    return terminal([sys.executable, "-m", *arguments])


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))
    (tmp_path / "config.toml").write_text("")
    monkeypatch.setenv("SPLIT_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path / "data"


def keep(folder: Path, name: str, *texts: str) -> None:
    roles = ("user", "assistant")
    messages = tuple(Message(roles[n % 2], text) for n, text in enumerate(texts))
    (folder / "chats").mkdir(parents=True, exist_ok=True)
    path = folder / "chats" / f"{name}.json"
    path.write_bytes(document_of(SavedConversation("any", messages)))


def messages(path: Path) -> list[dict[str, str]]:
    return json.loads(path.read_text())["messages"]  # type: ignore[no-any-return]


def test_keys_typed_into_a_reply_are_not_in_it_and_wait_for_the_prompt(
    server: RunningServer,
) -> None:
    eos = sorted(server.parts.manifest.document["eos_token_ids"])
    endless = [f"--logit-bias={token}=-100" for token in eos]
    with _client(*CHAT[:3], "--max-tokens=150", *endless, "--url", server.url) as person:
        person.expect("/help for commands")
        person.expect("> ")
        person.type(f"{QUESTION}\r")
        # Its first words, many tokens before its end.
        person.expect("Split inference divides")
        person.type("zqzq")
        reply = person.expect("TTFT")
        assert len(reply) > 200
        assert "zq" not in reply
        # The prompt may be painted before what waits for it, with a meter between them.
        person.expect("> ")
        person.expect("zqzq")
        person.type("\x15/quit\r")
        assert person.end() == 0


def test_what_was_typed_comes_back_in_a_later_chat(server: RunningServer, data: Path) -> None:
    with _client(*CHAT, "--url", server.url) as person:
        person.expect("> ")
        person.type("/stats\r")
        person.expect("no exchanges yet")
        person.expect("> ")
        person.type(" /help\r")
        person.expect("This program")
        person.type("/quit\r")
        assert person.end() == 0
    assert [path.stat().st_mode & 0o777 for path in data.glob("history*")] == [0o600] * 2
    assert (data / "history").read_text() == '"/stats"\n"/quit"\n'
    with _client(*CHAT, "--url", server.url) as person:
        person.expect("> ")
        person.type("\x1b[A\x1b[A\r")
        person.expect("no exchanges yet")
        person.type("/quit\r")
        assert person.end() == 0


def test_nothing_typed_is_kept_where_that_is_off(server: RunningServer, data: Path) -> None:
    with _client(*CHAT, "--no-history", "--url", server.url) as person:
        person.expect("> ")
        person.type("/quit\r")
        assert person.end() == 0
    # A random word and a routing id, made before anything was typed.
    kept = {path.name: path.read_text() for path in data.rglob("*")}
    assert kept.keys() == {"cache-salt", "servers.json", "servers.lock"}
    assert not any("/quit" in text for text in kept.values())


def test_a_first_message_a_block_and_a_file(
    server: RunningServer, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "my notes.txt").write_text("one\ntwo\n")
    with _client(*CHAT, "/dev/null is what?", "--url", server.url) as person:
        person.expect("> /dev/null is what?")
        person.expect("TTFT")
        person.type('"""\rfirst line\r/second line\r"""\r')
        person.expect("TTFT")
        person.type(f"/file {tmp_path}/my\t\r")
        person.expect("1 file goes with your next message: my notes.txt (8 B)")
        person.type("What is in it?\r")
        person.expect("TTFT")
        person.type("/save Trip\r")
        person.expect("saved 6 messages")
        person.type("/quit\r")
        assert person.end() == 0
    said = [m["content"] for m in messages(data / "chats" / "Trip.json")][::2]
    assert said == [
        "/dev/null is what?",
        "first line\n/second line",
        "What is in it?\n\nmy notes.txt:\n```\none\ntwo\n```",
    ]


def command(*arguments: str, text: str | None = None, **options: Any) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "split_client.cli", *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_saved_chat_goes_on_by_name_or_the_newest(server: RunningServer, data: Path) -> None:
    keep(data, "Older", "Hello", "Good day.")
    keep(data, "Newest", QUESTION, "It splits.")
    base = ("chat", "--url", server.url, "--max-tokens=2")
    status, out, err = command(*base, "--continue", text="/save ./c.json\n", cwd=data)
    assert (status, out) == (0, "")
    assert "loaded 2 messages of “Newest”" in err
    assert messages(data / "c.json")[1]["content"] == "It splits."
    status, _, err = command(*base, "-l", "old", "More?", text="/save\n")
    assert (status, "loaded 2 messages of “Older”" in err) == (0, True)
    assert [m["content"] for m in messages(data / "chats" / "Older.json")][:3] == [
        "Hello",
        "Good day.",
        "More?",
    ]


def test_a_saved_chat_that_is_not_there_is_told_before_anything_connects() -> None:
    base = ("chat", "--url", "http://127.0.0.1:9", "--cache", "/nowhere")
    assert command(*base, "--continue")[::2] == (
        1,
        "error: there is no saved chat to go on with; /save NAME or --autosave keeps one "
        "[no_chats]\n",
    )
    status, _, err = command(*base, "--load", "trip")
    assert (status, err.endswith("[chat_unknown]\n")) == (1, True)


def test_standard_input_joins_the_prompt(server: RunningServer) -> None:
    base = ("generate", "--url", server.url, "--temperature=0", "--max-tokens=8")
    question, text = "Summarise this:", "A device has the ends."
    with SplitClient(server.url) as client:
        answers = [
            client.chat(prompt, temperature=0, max_tokens=8).text
            for prompt in (f"{question}\n\n{text}", question)
        ]
    assert answers[0] != answers[1]
    assert command(*base, question, text=f"{text}\n") == (0, f"{answers[0]}\n", "")
    assert command(*base, question, stdin=subprocess.DEVNULL) == (0, f"{answers[1]}\n", "")
