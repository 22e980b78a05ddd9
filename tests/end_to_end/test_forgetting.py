"""What a server keeps of a chat is deleted there when its user says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client.api import AsyncSplitClient, ChatSession, SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_client.saved_chats.folder import ChatFolder
from split_client.terminal.chat import ChatLoop
from split_client.terminal.commands.line import Folders
from tests.end_to_end.test_kept_between_sessions import expected, messages
from tests.server_process import RunningServer, running_server
from tests.split_client.terminal.consoles import RecordingScreen, TypedReader

QUESTIONS = ("What is split inference?", "What does the relay do?")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def system(name: str) -> str:
    return f"{name}. " + messages("")[0]["content"]


def begun(client: SplitClient, name: str) -> ChatSession:
    return client.conversation(system(name), SamplingParams(), max_tokens=24)


def restored(url: str, cache: Path, name: str, question: str) -> int:
    """How much of a chat another program of the same user finds; it leaves nothing itself."""
    with SplitClient(url, cache=cache) as client:
        chat = client.conversation(system(name), SamplingParams(), max_tokens=1)
        reply = chat.send(question)
        reply.read()
        chat.forget()
        return reply.stats.prompt_restored


def test_a_chat_that_was_forgotten_is_sent_again_and_goes_on_with_the_same_tokens(
    server: RunningServer, tmp_path: Path
) -> None:
    with SplitClient(server.url, cache=tmp_path) as client:
        chat = begun(client, "Once")
        first = chat.send(QUESTIONS[0])
        first.read()
        done = chat.forget()
        # All but the last token, which was never sent.
        assert done.positions >= first.stats.prompt_tokens + len(first.token_ids) - 1
        assert (done.left, done.earlier, chat.cached_tokens) == (0, True, 0)
        second = chat.send(QUESTIONS[1])
        second.read()
        assert second.stats.prompt_restored == 0
        assert second.stats.prompt_sent == second.stats.prompt_tokens
    history = [
        *messages(QUESTIONS[0], system("Once")),
        {"role": "assistant", "content": first.text},
        {"role": "user", "content": QUESTIONS[1]},
    ]
    assert second.token_ids == expected(history)


def test_branches_and_what_lost_sessions_left_are_deleted_too(
    server: RunningServer, tmp_path: Path
) -> None:
    with SplitClient(server.url, cache=tmp_path) as client:
        chat = begun(client, "Branches")
        chat.send(QUESTIONS[0]).read()
        server.lose_sessions()
        chat.send(QUESTIONS[1]).read()
        chat.conversation.undo()
        chat.send("Tell me about something else altogether, please.").read()
        assert chat.forget().left == 0
        assert chat.forget().positions == 0
    for question in QUESTIONS:
        assert restored(server.url, tmp_path, "Branches", question) == 0


def test_what_another_chat_goes_on_from_stays(server: RunningServer, tmp_path: Path) -> None:
    with SplitClient(server.url, cache=tmp_path) as client:
        one, other = begun(client, "Shared"), begun(client, "Shared")
        one.send(QUESTIONS[0]).read()
        other.send(QUESTIONS[1]).read()
        other.close()
        done = one.forget()
        assert 64 <= done.left < done.positions
    assert restored(server.url, tmp_path, "Shared", QUESTIONS[1]) >= 64


def test_a_saved_chat_is_deleted_by_its_text_alone(server: RunningServer, tmp_path: Path) -> None:
    with SplitClient(server.url, cache=tmp_path) as client:
        chat = begun(client, "Saved")
        chat.send(QUESTIONS[0]).read()
        chat.send(QUESTIONS[1]).read()
        said = [message.as_dict() for message in chat.messages]
    with SplitClient(server.url, cache=tmp_path) as client:
        done = client.forget(said)
    assert done.positions > 128
    assert done.left == 0
    assert restored(server.url, tmp_path, "Saved", QUESTIONS[0]) == 0


def test_the_terminal_forgets_and_deletes(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))
    folders = Folders(ChatFolder(tmp_path / "chats"))
    screen = RecordingScreen()
    with SplitClient(server.url, cache=tmp_path) as client:
        chat = begun(client, "Terminal")
        lines = [
            QUESTIONS[0],
            "/stats",
            "/forget",
            QUESTIONS[1],
            "/save one",
            "/new",
            "/delete one",
        ]
        ChatLoop(client, chat, TypedReader(lines), screen, folders).run()
    said = screen.noted
    assert "last prompt: " in said
    assert said.count("the server deleted ") == 2
    assert "the chat goes on; the next message sends all of it again" in said
    assert restored(server.url, tmp_path, "Terminal", QUESTIONS[1]) == 0


def test_an_asyncio_program_forgets_as_well(server: RunningServer, tmp_path: Path) -> None:
    async def forgotten() -> tuple[int, int]:
        async with AsyncSplitClient(server.url, cache=tmp_path) as client:
            chat = await client.conversation(system("Async"), SamplingParams(), max_tokens=8)
            await chat.send(QUESTIONS[0]).read()
            done = await chat.forget()
            again = await client.forget(messages(QUESTIONS[0], system("Async")))
            return done.positions, again.positions

    first, again = asyncio.run(forgotten())
    assert first > 128
    assert again == 0
