"""Parts of a chat that later replies do not see: client and server, over both transports."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client.api import AsyncSplitClient, ChatSession, SplitClient
from split_client.chat.visible.errors import NothingToHide
from split_client.errors import ServerRefused
from split_client.generation.sampling.params import SamplingParams
from split_server.sessions.session import Session
from split_wire.hiding.spans import Spans
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server

QUESTIONS = ("What is split inference?", "Who picks the token?", "What does the server hold?")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(kv_approximate="on") as running:
        yield running


@pytest.fixture(params=["websocket", "http"])
def client(
    server: RunningServer, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=tmp_path, transport=request.param) as client:
        yield client


def said(client: SplitClient, *questions: str) -> ChatSession:
    chat = client.conversation("You know about split inference.", max_tokens=16)
    chat.params = SamplingParams()
    for question in questions:
        chat.send(question).read()
    return chat


def sessions(server: RunningServer) -> list[Session]:
    """Those that hide something."""

    async def found() -> list[Session]:
        return [one for one in server.parts.steps.store.idle() if one.cache.hidden]

    return asyncio.run_coroutine_threadsafe(found(), server.loop).result(PATIENCE)


def test_a_chat_with_hidden_parts_is_not_verified_against_one_that_sees_all(
    server: RunningServer, tmp_path: Path
) -> None:
    options = {"server_cache": "approximate", "verify": "full"}
    with SplitClient(server.url, cache=tmp_path, **options) as client:  # type: ignore[arg-type]
        chat = said(client, *QUESTIONS[:2])
        chat.visible.hide(first_reply(chat))
        for question in QUESTIONS[1:]:
            reply = chat.send(question)
            reply.read()
        # It stands on what was computed while parts were hidden.
        assert reply.stats.prompt_tiers.approximate
        assert chat.verified is None
        assert (client.verified.passed, client.verified.failed) == (0, 0)
        # Nothing moves while parts are hidden, so nothing is promised to.
        chat.conversation.undo()
        chat.conversation.say("Something else?")
        assert chat.reusable()[1] == 0


def first_reply(chat: ChatSession) -> Spans:
    part = next(part for part in chat.visible.parts() if part.role == "assistant")
    return ((part.start, part.end),)


def test_parts_are_where_the_messages_texts_are(client: SplitClient) -> None:
    chat = said(client, *QUESTIONS[:2])
    answered = chat.answered
    assert answered is not None
    parts = chat.visible.parts()
    assert [part.role for part in parts] == ["system", "user", "assistant", "user", "assistant"]
    for part, message in zip(parts, chat.messages, strict=True):
        text = client.ends.tokenizer.decode([*answered.ids[part.start : part.end]])
        assert message.content.strip() in text
        assert part.text == text


def test_what_is_hidden_is_hidden_on_the_server_until_it_is_shown(
    server: RunningServer, client: SplitClient
) -> None:
    chat = said(client, *QUESTIONS[:2])
    spans = first_reply(chat)
    assert chat.visible.hide(spans) == spans[0][1] - spans[0][0]
    assert [one.cache.hidden for one in sessions(server)] == [spans]
    reply = chat.send(QUESTIONS[2])
    reply.read()
    assert [one.cache.hidden for one in sessions(server)] == [spans] == [chat.visible.hidden]
    [session] = sessions(server)
    assert 0 < session.inexact.approximate < session.cache.length
    # What was computed since is held, and is not what the whole chat gives.
    again = chat.send(QUESTIONS[0])
    again.read()
    assert again.stats.prompt_tiers.approximate > 0
    assert chat.visible.show() == spans[0][1] - spans[0][0]
    assert not sessions(server)
    chat.close()


def test_a_session_that_was_lost_is_sent_again_and_hides_the_same(
    server: RunningServer, client: SplitClient
) -> None:
    chat = said(client, *QUESTIONS[:2])
    spans = first_reply(chat)
    chat.visible.hide(spans)
    [session] = sessions(server)
    server.loop.call_soon_threadsafe(server.parts.steps.store.lose, session)
    chat.send(QUESTIONS[2]).read()
    [other] = sessions(server)
    assert other is not session
    assert other.cache.hidden == spans
    # The rows before what was asked last are those of a plain chat.
    assert other.inexact.approximate < other.cache.length - spans[0][1]
    chat.close()


def test_the_same_with_an_event_loop(server: RunningServer, tmp_path: Path) -> None:
    async def scenario() -> tuple[int, list[Spans], int]:
        async with AsyncSplitClient(server.url, cache=tmp_path) as client:
            chat = await client.conversation("You know about split inference.", max_tokens=8)
            for question in QUESTIONS[:2]:
                await chat.send(question).read()
            hidden = await chat.hide(first_reply(chat.session))
            held = [one.cache.hidden for one in server.parts.steps.store.idle()]
            return hidden, [spans for spans in held if spans], await chat.show()

    hidden, held, shown = asyncio.run(scenario())
    assert hidden == shown > 0
    assert len(held) == 1


def test_an_edit_before_what_is_hidden_shows_it(server: RunningServer, client: SplitClient) -> None:
    chat = said(client, *QUESTIONS[:2])
    chat.visible.hide(first_reply(chat))
    chat.conversation.undo()
    chat.conversation.undo()
    chat.send(QUESTIONS[2]).read()
    assert chat.visible.hidden == ()
    assert not sessions(server)
    chat.close()


def test_neither_sinks_nor_the_last_message_nor_what_is_not_there_is_hidden(
    server: RunningServer, client: SplitClient
) -> None:
    chat = said(client, *QUESTIONS[:2])
    last = [part for part in chat.visible.parts() if part.role == "user"][-1]
    for spans in (((0, 8),), ((last.start, last.start + 1),)):
        with pytest.raises(ServerRefused, match="always seen") as refused:
            chat.visible.hide(spans)
        assert refused.value.code == "spans_refused"
    with pytest.raises(NothingToHide, match="positions 0 to"):
        chat.visible.hide(((10, 10_000),))
    assert chat.visible.hidden == ()
    assert not sessions(server)
    chat.send(QUESTIONS[2]).read()
    chat.close()


def test_a_server_whose_operator_does_not_allow_it_refuses(tmp_path: Path) -> None:
    with running_server() as plain, SplitClient(plain.url, cache=tmp_path) as client:
        chat = said(client, QUESTIONS[0])
        assert not chat.visible.offered
        with pytest.raises(ServerRefused, match="spans is not supported") as refused:
            chat.visible.hide(first_reply(chat))
        assert refused.value.code == "unsupported"
        chat.visible.show()
        chat.send(QUESTIONS[1]).read()
