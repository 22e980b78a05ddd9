"""Delivery of an answer: to readers that take nothing, and when something fails inside."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from split_server.compat.openai.errors import ApiError
from split_server.http.openai.sink import LiveAnswer, ReaderStalled, Sink
from split_server.http.split.download import ABORT_EXTENSION
from split_wire.errors import ShuttingDown
from tests.engines import run
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import CHAT, HELLO, post, refused


class Peer:
    """An ASGI peer: ``sent`` is what it took; it takes no body while ``stuck``."""

    def __init__(self, stuck: bool = False) -> None:
        self.stuck = stuck
        self.sent: list[Any] = []
        self.gone = asyncio.Event()
        self.aborted = False
        self.scope: dict[str, Any] = {
            "type": "http",
            "extensions": {ABORT_EXTENSION: lambda: setattr(self, "aborted", True)},
        }

    async def send(self, message: Any) -> None:
        if self.stuck and message["type"] == "http.response.body":
            await asyncio.Event().wait()
        self.sent.append(message)

    async def receive(self) -> Any:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


def test_a_reader_that_takes_nothing_is_cut_off() -> None:
    async def main() -> None:
        peer = Peer(stuck=True)
        sink = Sink(peer.scope, peer.send, stall=0)
        await sink.start_events()
        with pytest.raises(ReaderStalled):
            await sink.events([{"a": 1}])
        assert peer.aborted

    run(main())


def test_an_error_is_an_answer_before_a_stream_and_an_event_in_it() -> None:
    error = ApiError(503, "full", "server_error", "overloaded", retry_after=1.2)

    async def main() -> None:
        before, within = Peer(), Peer()
        await Sink(before.scope, before.send).fail(error)
        sink = Sink(within.scope, within.send)
        await sink.start_events()
        await sink.fail(error)
        assert before.sent[0]["status"] == 503
        assert (b"retry-after", b"2") in before.sent[0]["headers"]
        assert within.sent[0]["status"] == 200
        assert within.body.startswith(b'data: {"error":{"message":"full"')
        assert within.body.endswith(b"}\n\ndata: [DONE]\n\n")

    run(main())


def test_work_ends_when_its_reader_is_gone() -> None:
    async def main() -> None:
        peer, ended = Peer(), asyncio.Event()

        async def work(_: Sink) -> None:
            peer.gone.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        await LiveAnswer(work)(peer.scope, peer.receive, peer.send)
        assert ended.is_set()
        assert peer.sent == []

    run(main())


def test_work_that_the_server_gave_up_is_told_so() -> None:
    async def main() -> None:
        peer = Peer()

        async def work(_: Sink) -> None:
            given_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            given_up.cancel()
            await given_up

        with pytest.raises(ShuttingDown):
            await LiveAnswer(work)(peer.scope, peer.receive, peer.send)

    run(main())


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def test_a_failure_inside_is_a_500_that_keeps_its_reason(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> str:
        raise RuntimeError("a secret of the server")

    compat = server.parts.compat
    assert compat is not None
    monkeypatch.setattr(compat.texts, "render", broken)
    answer = post(server, CHAT, messages=HELLO)
    error = refused(answer, 500)
    assert (error["code"], error["type"]) == ("internal_error", "server_error")
    assert "secret" not in answer.text
    monkeypatch.undo()
    assert post(server, CHAT, messages=HELLO, max_tokens=1).status_code == 200


def test_without_the_compatible_apis_there_are_none() -> None:
    with running_server(compat=False) as server, server.client() as client:
        assert client.get("/v1/models").status_code == 404
        assert client.post(CHAT, json={"messages": HELLO}).status_code == 404
