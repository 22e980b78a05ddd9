from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest

from split_relay.errors import (
    RelayError,
    TooManyConnections,
    UpstreamUnavailable,
    UpstreamUnprotected,
)
from split_relay.refusal import Refusal, answer, looks_like_http
from tests.split_relay.net import LOCAL, connect, get, hang_up, run

DOWN = UpstreamUnavailable("10.1.2.3:8095", 5, "connection refused")


@pytest.mark.parametrize(
    ("first", "verdict"),
    [
        (b"GET / HTTP/1.1", True),
        (b"OPTIONS ", True),
        (b"G", None),
        (b"", None),
        (b"OPTIONS", None),
        (b"GETX", False),
        (b"\x16\x03\x01", False),
        (b"get / ", False),
        (b"PRI * HTTP/2.0", False),
        (b"\x00", False),
    ],
)
def test_the_first_bytes_decide(first: bytes, verdict: bool | None) -> None:
    assert looks_like_http(first) is verdict


@pytest.mark.parametrize(
    ("error", "status", "code", "retryable"),
    [
        (DOWN, 503, "upstream_unavailable", True),
        (UpstreamUnprotected("10.1.2.3:8095", "200"), 503, "upstream_unprotected", False),
        (TooManyConnections(4, per_address=False), 503, "too_many_connections", True),
        (TooManyConnections(4, per_address=True), 429, "too_many_connections", True),
    ],
)
def test_the_answer_is_json_with_a_stable_code(
    error: RelayError, status: int, code: str, retryable: bool
) -> None:
    head, body = answer(error).split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert b"Connection: close" in head
    assert b"Content-Length: %d" % len(body) in head
    assert (b"Retry-After: 1" in head) is retryable
    fields = json.loads(body)["error"]
    assert (fields["code"], fields["retryable"]) == (code, retryable)
    assert "10.1.2.3" not in fields["message"]


@contextlib.asynccontextmanager
async def _refusing(sniff_seconds: float = 5.0) -> AsyncIterator[int]:
    """The port of a server that refuses everybody."""
    refusals: list[Refusal] = []

    class Door(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            transport.pause_reading()
            refusals.append(Refusal(DOWN, sniff_seconds=sniff_seconds))
            refusals[-1].take(transport)

    server = await asyncio.get_running_loop().create_server(Door, LOCAL, 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])
    await asyncio.gather(*(refusal.finished for refusal in refusals))


def test_http_is_answered_even_when_a_large_body_follows() -> None:
    async def main() -> None:
        async with _refusing() as port:
            request = b"POST /x HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n" + bytes(2_000_000)
            assert (await get(port, request)).startswith(b"HTTP/1.1 503 ")

    run(main())


def test_a_head_request_gets_no_body() -> None:
    async def main() -> None:
        async with _refusing() as port:
            reply = await get(port, b"HEAD / HTTP/1.1\r\n\r\n")
            assert reply.startswith(b"HTTP/1.1 503 ")
            assert reply.endswith(b"\r\n\r\n")

    run(main())


def test_a_request_in_single_bytes_is_recognised() -> None:
    async def main() -> None:
        async with _refusing() as port:
            reader, writer = await connect(port)
            for byte in b"GET / HTTP/1.1\r\n\r\n":
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0)
            assert (await reader.read(-1)).startswith(b"HTTP/1.1 503 ")
            await hang_up(writer)

    run(main())


@pytest.mark.parametrize("first", [b"\x16\x03\x01\x02\x00", b"\x00" * 100, b""])
def test_everything_else_is_closed_without_a_byte(first: bytes) -> None:
    async def main() -> None:
        async with _refusing() as port:
            reader, writer = await connect(port)
            writer.write(first)
            if not first:
                writer.write_eof()
            try:
                assert await reader.read(-1) == b""
            except ConnectionResetError:
                assert first, "closing with unread bytes resets"
            await hang_up(writer)

    run(main())


def test_a_silent_client_is_closed() -> None:
    async def main() -> None:
        async with _refusing(sniff_seconds=0.02) as port:
            reader, writer = await connect(port)
            assert await reader.read(-1) == b""
            await hang_up(writer)

    run(main())
