"""What one connection may have parsed at a time, on a protocol whose application is held."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send
from uvicorn.server import ServerState

from split_server.http.wire.doors import Doors
from split_server.http.wire.protocols import MAX_HEADERS, BoundedHttp
from split_server.http.wire.server import uvicorn_config

_SHORT = b"GET / HTTP/1.1\r\n\r\n"
_POST = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"


class _Transport(asyncio.Transport):
    """Keeps what is written, and knows whether it would be read from."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.reading, self.closed = True, False

    def write(self, data: Any) -> None:
        self.written += data

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = close

    def get_write_buffer_size(self) -> int:
        return 0

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol


class _Held:
    """An application that answers once ``go`` is set, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked = self.answered = self.body = 0
        self.go = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        more = scope["method"] == "POST"
        while more:
            message: Message = await receive()
            self.body += len(message.get("body", b""))
            more = message.get("more_body", False)
        await self.go.wait()
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body"})
        self.answered += 1


async def _until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not done():  # noqa: ASYNC110 - the protocol has no events of its own
            await asyncio.sleep(0.001)


def _connected(app: _Held) -> tuple[BoundedHttp, _Transport]:
    config = uvicorn_config(app, 1 << 20, 1.0)
    config.load()
    place = Doors().enter("127.0.0.1")
    made, transport = BoundedHttp(config, ServerState(), {}, place=place), _Transport()
    made.connection_made(transport)
    return made, transport


def test_of_pipelined_requests_a_few_are_parsed_and_all_are_answered() -> None:
    async def scenario() -> None:
        app = _Held()
        made, transport = _connected(app)
        made.data_received(5000 * _SHORT)
        await _until(lambda: app.asked > 0)
        assert len(made.pipeline) < 150
        assert not transport.reading
        app.go.set()
        await _until(lambda: app.answered >= 600)
        assert len(made.pipeline) < 150
        made.connection_lost(None)

    asyncio.run(scenario())


def test_pipelined_requests_are_answered_to_the_last_and_reading_goes_on() -> None:
    async def scenario() -> None:
        app = _Held()
        made, transport = _connected(app)
        app.go.set()
        made.data_received(300 * _SHORT)
        await _until(lambda: app.answered == 300)
        await _until(lambda: transport.reading)
        assert transport.written.count(b"HTTP/1.1 204") == 300
        made.connection_lost(None)

    asyncio.run(scenario())


def test_chunks_of_one_byte_take_their_time() -> None:
    async def scenario() -> None:
        app = _Held()
        made, transport = _connected(app)
        made.data_received(_POST + 40_000 * b"1\r\na\r\n")
        await _until(lambda: app.body > 0)
        assert app.body < 1000
        assert not transport.reading
        made.connection_lost(None)

    asyncio.run(scenario())


def test_trailers_take_their_time() -> None:
    async def scenario() -> None:
        app = _Held()
        made, transport = _connected(app)
        made.data_received(_POST + b"1\r\na\r\n0\r\n" + 60_000 * b"a:\r\n")
        await _until(lambda: app.body > 0)
        assert not transport.reading
        made.connection_lost(None)

    asyncio.run(scenario())


@pytest.mark.parametrize(("headers", "status"), [(MAX_HEADERS, b"204"), (MAX_HEADERS + 1, b"400")])
def test_a_head_has_a_bounded_number_of_headers(headers: int, status: bytes) -> None:
    async def scenario() -> None:
        app = _Held()
        made, transport = _connected(app)
        app.go.set()
        made.data_received(b"GET / HTTP/1.1\r\n" + headers * b"a:\r\n" + b"\r\n")
        await _until(lambda: bool(transport.written))
        assert transport.written.startswith(b"HTTP/1.1 " + status)
        made.connection_lost(None)

    asyncio.run(scenario())


def test_a_large_body_is_whole() -> None:
    async def scenario() -> None:
        app = _Held()
        made, transport = _connected(app)
        app.go.set()
        size = 3_000_000
        head = b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size
        made.data_received(head + bytes(size) + _SHORT)
        await _until(lambda: app.answered == 2)
        assert app.body == size
        assert transport.reading
        made.connection_lost(None)

    asyncio.run(scenario())
