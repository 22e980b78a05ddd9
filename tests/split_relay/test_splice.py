"""A splice between two real connections, without limits or a guard around it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from hashlib import sha256

from split_relay.splice import HIGH_WATER, End, Splice
from tests.split_relay.net import LOCAL, connect, hang_up, run

ONE_READ = 256 * 1024  # CPython's selector transports read at most this much at once


class Watched(End):
    """Records how much waits in the peer's buffer, and when the peer stopped being read."""

    def __init__(self, on_connect: Callable[[End], None] | None = None) -> None:
        super().__init__(lambda _: None, on_connect)
        self.largest = 0
        self.full = asyncio.Event()

    def pause_writing(self) -> None:
        self.largest = max(self.largest, self.transport.get_write_buffer_size())
        super().pause_writing()
        self.full.set()


@dataclass
class Joined:
    """Client and server of a splice, and the splice between them."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    far_reader: asyncio.StreamReader
    far_writer: asyncio.StreamWriter
    splice: Splice
    client_end: Watched
    upstream_end: Watched
    extra: list[asyncio.Server] = field(default_factory=list)


@contextlib.asynccontextmanager
async def joined(
    idle_timeout: float = 60.0, clock: Callable[[], float] | None = None
) -> AsyncIterator[Joined]:
    loop = asyncio.get_running_loop()
    far: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = loop.create_future()
    near: asyncio.Future[End] = loop.create_future()
    server = await asyncio.start_server(lambda r, w: far.set_result((r, w)), LOCAL, 0)
    door = await loop.create_server(lambda: Watched(near.set_result), LOCAL, 0)
    reader, writer = await connect(door.sockets[0].getsockname()[1])
    client_end = await near
    assert isinstance(client_end, Watched)
    _, upstream_end = await loop.create_connection(Watched, *server.sockets[0].getsockname())
    splice = Splice(client_end, upstream_end, idle_timeout=idle_timeout, clock=clock)
    splice.start()
    far_reader, far_writer = await far
    try:
        yield Joined(reader, writer, far_reader, far_writer, splice, client_end, upstream_end)
    finally:
        splice.abort()
        await splice.finished
        for end in (writer, far_writer):
            await hang_up(end)
        server.close()
        door.close()


def test_end_of_stream_passes_and_the_other_direction_stays_open() -> None:
    async def main() -> None:
        async with joined() as j:
            j.writer.write(b"question")
            j.writer.write_eof()
            assert await j.far_reader.read(-1) == b"question"
            assert not j.splice.finished.done()
            j.far_writer.write(b"a late answer")
            await j.far_writer.drain()
            assert await j.reader.readexactly(13) == b"a late answer"
            j.far_writer.write_eof()
            assert await j.reader.read(-1) == b""
            await j.splice.finished

    run(main())


def test_the_server_may_end_its_stream_first() -> None:
    async def main() -> None:
        async with joined() as j:
            j.far_writer.write(b"greeting")
            j.far_writer.write_eof()
            assert await j.reader.read(-1) == b"greeting"
            j.writer.write(b"still heard")
            j.writer.write_eof()
            assert await j.far_reader.read(-1) == b"still heard"
            await j.splice.finished

    run(main())


def test_a_slow_reader_stops_the_sender_instead_of_filling_memory() -> None:
    async def main() -> None:
        piece = bytes(range(256)) * 4096
        pieces = 40
        async with joined() as j:

            async def send() -> None:
                for _ in range(pieces):
                    j.far_writer.write(piece)
                    await j.far_writer.drain()
                j.far_writer.write_eof()

            sending = asyncio.create_task(send())
            j.reader._transport.pause_reading()  # type: ignore[attr-defined]
            await j.client_end.full.wait()
            assert not j.upstream_end.transport.is_reading()
            held = j.client_end.transport.get_write_buffer_size()
            assert HIGH_WATER < held <= HIGH_WATER + ONE_READ
            assert j.upstream_end.received < pieces * len(piece)
            j.reader._transport.resume_reading()  # type: ignore[attr-defined]
            digest = sha256()
            while data := await j.reader.read(1 << 20):
                digest.update(data)
            await sending
            assert digest.digest() == sha256(piece * pieces).digest()
            assert j.client_end.largest <= HIGH_WATER + ONE_READ

    run(main())


def test_what_was_sent_before_closing_still_arrives() -> None:
    async def main() -> None:
        async with joined() as j:
            message = bytes(3_000_000)
            j.far_writer.write(message)
            j.far_writer.close()
            assert await j.reader.read(-1) == message
            j.writer.close()
            await j.splice.finished

    run(main())


def test_a_reset_closes_the_other_side() -> None:
    async def main() -> None:
        async with joined() as j:
            sock = j.writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            j.writer.transport.abort()
            assert await j.far_reader.read(-1) == b""
            await j.splice.finished

    run(main())


def test_an_end_that_left_before_the_splice_began_finishes_it() -> None:
    async def main() -> None:
        async with joined() as j:
            j.splice.abort()
            await j.splice.finished
            again = Splice(j.client_end, j.upstream_end, idle_timeout=60)
            again.start()
            await again.finished
            assert not again.idle

    run(main())


def test_nothing_moving_for_too_long_closes_both_ends() -> None:
    async def main() -> None:
        async with joined(idle_timeout=0.02) as j:
            assert await j.reader.read(-1) == b""
            assert await j.far_reader.read(-1) == b""
            await j.splice.finished
            assert j.splice.idle

    run(main())


def test_bytes_in_either_direction_keep_a_connection() -> None:
    async def main() -> None:
        now = 0.0
        async with joined(idle_timeout=10.0, clock=lambda: now) as j:
            for step in range(1, 6):
                now = step * 9.0
                j.far_writer.write(b"x")
                assert await j.reader.readexactly(1) == b"x"
                j.splice._check_idle()
                assert not j.splice.idle
            now += 10.0
            j.splice._check_idle()
            assert await j.reader.read(-1) == b""
            assert j.splice.idle

    run(main())


def test_small_messages_are_not_delayed_and_dead_peers_are_found() -> None:
    async def main() -> None:
        async with joined() as j:
            for end in (j.client_end, j.upstream_end):
                sock = end.transport.get_extra_info("socket")
                assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)

    run(main())
