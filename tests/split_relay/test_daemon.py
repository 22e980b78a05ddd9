from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from hashlib import sha256

import pytest

from split_relay import Address, Relay
from split_relay.errors import ListenFailed, UpstreamIsRelay
from tests.split_relay.net import (
    LOCAL,
    Http,
    config,
    connect,
    echo,
    free_port,
    get,
    hang_up,
    has_ipv6_loopback,
    port_of,
    relay,
    run,
    upstream,
)

REQUEST_CHAT = b"GET /chat HTTP/1.1\r\nHost: x\r\n\r\n"


def _error(reply: bytes) -> tuple[int, str]:
    head, body = reply.split(b"\r\n\r\n")
    return int(head.split(b" ")[1]), json.loads(body)["error"]["code"]


def test_a_large_transfer_is_byte_exact_both_ways_at_once() -> None:
    async def main() -> None:
        message = os.urandom(1 << 20) * 16
        async with upstream(echo) as server, relay(server.port) as daemon:
            reader, writer = await connect(port_of(daemon))

            async def send() -> None:
                for start in range(0, len(message), 100_003):
                    writer.write(message[start : start + 100_003])
                    await writer.drain()
                writer.write_eof()

            sending = asyncio.create_task(send())
            digest = sha256()
            while data := await reader.read(1 << 20):
                digest.update(data)
            await sending
            await hang_up(writer)
            assert digest.digest() == sha256(message).digest()
            counts = daemon.snapshot()
            assert counts.bytes_up == counts.bytes_down == len(message)
            assert counts.connections == 1

    run(main())


def test_http_passes_with_many_clients_at_once() -> None:
    async def main() -> None:
        async with upstream(Http(200, close=True)) as server, relay(server.port) as daemon:
            replies = await asyncio.gather(*(get(port_of(daemon)) for _ in range(20)))
            assert {reply.split(b"\r\n\r\n")[1] for reply in replies} == {b"body of 200"}

    run(main())


@pytest.mark.parametrize(("option", "status"), [("max_connections", 503), ("max_per_address", 429)])
def test_a_connection_above_a_limit_is_refused_and_others_stay(option: str, status: int) -> None:
    async def main() -> None:
        async with upstream(echo) as server, _limited(server.port, option) as daemon:
            first = await connect(port_of(daemon))
            second = await connect(port_of(daemon))
            for reader, writer in (first, second):
                writer.write(b"hello")
                assert await reader.readexactly(5) == b"hello"
            assert _error(await get(port_of(daemon))) == (status, "too_many_connections")
            assert daemon.snapshot().refused == 1
            assert server.accepted == 2
            first[1].write(b"again")
            assert await first[0].readexactly(5) == b"again"
            await hang_up(first[1])
            reader, writer = await _echoed(daemon)
            for open_writer in (second[1], writer):
                await hang_up(open_writer)

    run(main())


def _limited(port: int, option: str) -> contextlib.AbstractAsyncContextManager[Relay]:
    if option == "max_connections":
        return relay(port, max_connections=2)
    return relay(port, max_per_address=2)


async def _echoed(daemon: Relay) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection through the relay, tried until the slot of a closed one is free."""
    while True:
        reader, writer = await connect(port_of(daemon))
        writer.write(b"GET echo")
        try:
            if await reader.readexactly(8) == b"GET echo":
                return reader, writer
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        await hang_up(writer)


def test_an_upstream_that_is_down_is_answered_in_json() -> None:
    async def main() -> None:
        async with relay(free_port(), connect_timeout=0.1) as daemon:
            assert _error(await get(port_of(daemon))) == (503, "upstream_unavailable")
            counts = daemon.snapshot()
            assert (counts.upstream_failures, counts.active) == (1, 0)

    run(main())


def test_a_tls_client_of_a_dead_upstream_is_closed_without_a_byte() -> None:
    async def main() -> None:
        async with relay(free_port(), connect_timeout=0.1) as daemon:
            reader, writer = await connect(port_of(daemon))
            writer.write(b"\x16\x03\x01\x00\x05hello")
            try:
                assert await reader.read(-1) == b""
            except ConnectionResetError:
                assert daemon.snapshot().upstream_failures == 1
            await hang_up(writer)

    run(main())


def test_a_connection_waits_for_an_upstream_that_is_starting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        refused = asyncio.Event()
        pauses = iter([0.0] * 1000)

        def watched_backoff() -> object:
            refused.set()
            return pauses

        port = free_port()
        monkeypatch.setattr("split_relay.dial.backoff", watched_backoff)
        async with relay(port, connect_timeout=20) as daemon:
            asking = asyncio.create_task(get(port_of(daemon)))
            await refused.wait()
            async with upstream(Http(200, close=True), port=port):
                assert (await asking).endswith(b"body of 200")

    run(main())


def test_an_idle_connection_is_closed_and_counted() -> None:
    async def main() -> None:
        async with upstream(echo) as server, relay(server.port, idle_timeout=0.05) as daemon:
            reader, writer = await connect(port_of(daemon))
            assert await reader.read(-1) == b""
            await hang_up(writer)
            assert daemon.snapshot().idle_closed == 1

    run(main())


def test_stopping_lets_open_connections_end_by_themselves() -> None:
    async def main() -> None:
        async with upstream(echo) as server:
            daemon = Relay(config(server.port))
            await daemon.start()
            reader, writer = await connect(port_of(daemon))
            writer.write(b"a")
            assert await reader.readexactly(1) == b"a"
            stopping = asyncio.create_task(daemon.stop(grace=20))
            await asyncio.sleep(0)
            with pytest.raises(ConnectionRefusedError):
                await connect(port_of(daemon))
            writer.write(b"b")
            assert await reader.readexactly(1) == b"b"
            writer.write_eof()
            assert await reader.read(-1) == b""
            await hang_up(writer)
            await stopping

    run(main())


def test_stopping_drops_what_outlasts_the_grace() -> None:
    async def main() -> None:
        async with upstream(echo) as server:
            daemon = Relay(config(server.port))
            await daemon.start()
            reader, writer = await connect(port_of(daemon))
            writer.write(b"a")
            assert await reader.readexactly(1) == b"a"
            await daemon.stop(grace=0.02)
            assert await reader.read(-1) == b""
            await hang_up(writer)
            assert daemon.snapshot().active == 0

    run(main())


def test_a_relay_to_itself_is_refused() -> None:
    async def main() -> None:
        port = free_port()
        settings = config(port)
        object.__setattr__(settings, "listen", Address(LOCAL, port))
        with pytest.raises(UpstreamIsRelay):
            await Relay(settings).start()

    run(main())


def test_a_port_in_use_stops_the_start() -> None:
    async def main() -> None:
        async with upstream(echo) as server:
            settings = config(server.port)
            object.__setattr__(settings, "listen", Address(LOCAL, server.port))
            with pytest.raises(ListenFailed):
                await Relay(settings).start()

    run(main())


@pytest.mark.skipif(not has_ipv6_loopback(), reason="this machine has no ::1")
def test_ipv6_works_on_both_sides() -> None:
    async def main() -> None:
        async with (
            upstream(echo, host="::1") as server,
            relay(server.port, host="::1", upstream_host="::1") as daemon,
        ):
            reader, writer = await connect(port_of(daemon), "::1")
            writer.write(b"over six")
            assert await reader.readexactly(8) == b"over six"
            await hang_up(writer)

    run(main())


@pytest.mark.skipif(not has_ipv6_loopback(), reason="this machine has no ::1")
def test_an_ipv4_client_of_the_ipv6_wildcard_counts_under_its_own_address(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with (
            upstream(echo) as server,
            relay(server.port, host="::", open=True) as daemon,
        ):
            assert await get(port_of(daemon)) == REQUEST_CHAT

    with caplog.at_level(logging.INFO, "split_relay"):
        run(main())
    assert "127.0.0.1: 31 B up, 31 B down" in caplog.text
    assert "::ffff" not in caplog.text


def test_counters_are_logged_at_intervals_when_they_changed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with upstream(echo) as server, relay(server.port, report_every=0.01) as daemon:
            _, writer = await connect(port_of(daemon))
            logged = asyncio.Event()
            caplog.handler.addFilter(lambda r: _set_on(logged, "1 active", r.getMessage()))
            await logged.wait()
            await hang_up(writer)

    with caplog.at_level(logging.INFO, "split_relay"):
        run(main())
    assert "stopped: 1 connections, 0 active" in caplog.text


def _set_on(event: asyncio.Event, words: str, message: str) -> bool:
    if words in message:
        event.set()
    return True


def test_no_log_line_holds_what_was_sent(caplog: pytest.LogCaptureFixture) -> None:
    secret = b"GET /a-secret-prompt HTTP/1.1\r\nAuthorization: Bearer hunter2\r\n\r\n"

    async def main() -> None:
        async with upstream(echo) as server, relay(server.port) as daemon:
            assert await get(port_of(daemon), secret) == secret
        async with relay(free_port(), connect_timeout=0.05) as daemon:
            assert _error(await get(port_of(daemon), secret))[0] == 503

    with caplog.at_level(logging.DEBUG):
        run(main())
    assert "127.0.0.1 refused" in caplog.text
    assert f"{len(secret)} B up" in caplog.text
    assert "secret" not in caplog.text
    assert "hunter2" not in caplog.text


def test_refusals_are_logged_once_a_second_at_most(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with relay(free_port(), connect_timeout=0.3) as daemon:
            # All of it is within a second, however slow the machine is.
            daemon._refused_log._clock = lambda: 0.0
            await asyncio.gather(*(get(port_of(daemon)) for _ in range(10)))
            assert daemon.snapshot().upstream_failures == 10

    with caplog.at_level(logging.WARNING, "split_relay"):
        run(main())
    assert caplog.text.count("127.0.0.1 refused:") == 1
    assert "did not answer within 0.3 s: connection refused; check that it runs" in caplog.text
