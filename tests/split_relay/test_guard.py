"""Beyond loopback: only an upstream that asks for a token is relayed, at every moment."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator

import pytest

from split_relay import Relay
from split_relay.address import Address
from split_relay.errors import UpstreamUnavailable, UpstreamUnprotected
from split_relay.guard import TokenGuard
from split_relay.probe import PROBE_PATH
from tests.split_relay.net import (
    EVERYWHERE,
    LOCAL,
    Http,
    Upstream,
    config,
    connect,
    free_port,
    get,
    hang_up,
    port_of,
    relay,
    run,
    upstream,
)

PROBE = PROBE_PATH.encode()
CHAT = b"GET /chat HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def _code(reply: bytes) -> str:
    return str(json.loads(reply.split(b"\r\n\r\n")[1])["error"]["code"])


async def _refused(port: int) -> None:
    with pytest.raises(ConnectionRefusedError):
        await connect(port)


def test_an_upstream_that_asks_for_a_token_is_relayed() -> None:
    async def main() -> None:
        asks = Http(401)
        async with upstream(asks) as server, relay(server.port, host=EVERYWHERE) as daemon:
            assert daemon.beyond_loopback
            assert asks.paths() == [PROBE]
            assert b"authorization" not in asks.seen[0].lower()
            assert b"Host: 127.0.0.1:%d\r\n" % server.port in asks.seen[0]
            asks.close = True
            assert b" 401 " in await get(port_of(daemon), CHAT)

    run(main())


@pytest.mark.parametrize("status", [200, 302, 403, 404])
def test_an_upstream_that_lets_strangers_in_is_not_relayed(status: int) -> None:
    async def main() -> None:
        async with upstream(Http(status)) as server:
            daemon = Relay(config(server.port, host=EVERYWHERE))
            with pytest.raises(UpstreamUnprotected, match=f"got {status}, not 401") as caught:
                await daemon.start()
            assert "--open" in str(caught.value)
            assert not caught.value.retryable
            await _refused(port_of(daemon))

    run(main())


def test_an_upstream_that_is_not_http_is_not_relayed() -> None:
    async def ssh(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-something else\r\n")
        await reader.read(-1)

    async def main() -> None:
        async with upstream(ssh) as server:
            with pytest.raises(UpstreamUnprotected, match="not HTTP/1"):
                await Relay(config(server.port, host=EVERYWHERE)).start()

    run(main())


def test_open_relays_anything() -> None:
    async def main() -> None:
        free = Http(200, close=True)
        async with (
            upstream(free) as server,
            relay(server.port, host=EVERYWHERE, open=True) as daemon,
        ):
            assert (await get(port_of(daemon), CHAT)).endswith(b"body of 200")
            assert free.paths() == [b"/chat"]

    run(main())


def test_on_loopback_nothing_is_probed() -> None:
    async def main() -> None:
        free = Http(200, close=True)
        async with upstream(free) as server, relay(server.port) as daemon:
            assert not daemon.beyond_loopback
            assert (await get(port_of(daemon), CHAT)).endswith(b"body of 200")
            assert free.paths() == [b"/chat"]

    run(main())


def test_nobody_is_accepted_before_the_probe_has_passed() -> None:
    async def main() -> None:
        asks = Http(401)
        asks.gate.clear()
        async with upstream(asks) as server:
            daemon = Relay(config(server.port, host=EVERYWHERE))
            starting = asyncio.create_task(daemon.start())
            await asks.asked.wait()
            await _refused(port_of(daemon))
            asks.gate.set()
            await starting
            _, writer = await connect(port_of(daemon))
            await hang_up(writer)
            await daemon.stop(grace=0)

    run(main())


def test_starting_waits_for_an_upstream_that_is_late(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        port = free_port()
        waiting = asyncio.Event()
        caplog.handler.addFilter(lambda r: "waiting up to" not in r.getMessage() or _set(waiting))
        daemon = Relay(config(port, host=EVERYWHERE))
        starting = asyncio.create_task(daemon.start())
        await waiting.wait()
        await _refused(port_of(daemon))
        async with upstream(Http(401), port=port):
            await starting
            await daemon.stop(grace=0)

    with caplog.at_level(logging.INFO, "split_relay"):
        run(main())
    assert "it is not up yet (connection refused); waiting up to 60 s" in caplog.text


def _set(event: asyncio.Event) -> bool:
    event.set()
    return True


def test_starting_waits_while_the_upstream_says_that_it_is_loading() -> None:
    async def main() -> None:
        loading = Http(503)
        async with upstream(loading) as server:
            daemon = Relay(config(server.port, host=EVERYWHERE))
            starting = asyncio.create_task(daemon.start())
            await loading.asked.wait()
            loading.status = 401
            await starting
            await daemon.stop(grace=0)

    run(main())


@pytest.mark.parametrize("silent", [False, True])
def test_starting_gives_up_after_its_time(silent: bool) -> None:
    async def main() -> None:
        async with contextlib.AsyncExitStack() as stack:
            port = free_port()
            mute = Http(401)
            mute.gate.clear()
            if silent:
                port = (await stack.enter_async_context(upstream(mute))).port
            daemon = Relay(config(port, host=EVERYWHERE, start_timeout=0.1))
            with pytest.raises(UpstreamUnavailable, match=r"within 0\.1 s"):
                await daemon.start()
            await _refused(port_of(daemon))
            mute.gate.set()

    run(main())


@contextlib.asynccontextmanager
async def _restarted_as(old: Http, new: Http) -> AsyncIterator[tuple[Relay, Upstream]]:
    """A relay whose upstream was replaced on the same port, with no connection in between."""
    async with upstream(old) as server, relay(server.port, host=EVERYWHERE) as daemon:
        await server.stop()
        server.handler = new
        await server.start()
        yield daemon, server


@pytest.mark.parametrize("close", [False, True])
def test_an_upstream_restarted_without_a_token_does_not_become_open(close: bool) -> None:
    async def main() -> None:
        free = Http(200, close=close)
        async with _restarted_as(Http(401, close=close), free) as (daemon, server):
            for _ in range(3):
                assert _code(await get(port_of(daemon), CHAT)) == "upstream_unprotected"
            assert set(free.paths()) == {PROBE}
            assert daemon.snapshot().upstream_failures == 3
            assert daemon.snapshot().bytes_up == 0
            await server.stop()
            server.handler = Http(401, close=True)
            await server.start()
            assert b" 401 " in await get(port_of(daemon), CHAT)

    run(main())


def test_no_byte_of_a_client_passes_while_the_new_upstream_is_probed() -> None:
    async def main() -> None:
        new = Http(401)
        new.gate.clear()
        async with _restarted_as(Http(401), new) as (daemon, _):
            reader, writer = await connect(port_of(daemon))
            writer.write(CHAT)
            await writer.drain()
            await new.asked.wait()
            assert new.paths() == [PROBE]
            assert daemon.snapshot().bytes_up == 0
            new.gate.set()
            assert b" 401 " in await reader.readuntil(b"\r\n")
            assert new.paths() == [PROBE, b"/chat"]
            await hang_up(writer)

    run(main())


def test_connections_that_wait_for_one_probe_do_not_each_make_their_own() -> None:
    async def main() -> None:
        new = Http(401)
        async with _restarted_as(Http(401), new) as (daemon, _):

            async def first_line() -> bytes:
                reader, writer = await connect(port_of(daemon))
                writer.write(CHAT)
                line = await reader.readuntil(b"\r\n")
                await hang_up(writer)
                return line

            lines = await asyncio.gather(*(first_line() for _ in range(8)))
            assert all(b" 401 " in line for line in lines)
            assert new.paths().count(PROBE) == 1

    run(main())


def test_waiting_for_a_silent_upstream_is_bounded_for_everybody() -> None:
    async def main() -> None:
        mute = Http(401)
        mute.gate.clear()
        async with upstream(Http(401)) as server:
            settings = config(server.port, host=EVERYWHERE, connect_timeout=0.3)
            daemon = Relay(settings)
            await daemon.start()
            await server.stop()
            server.handler = mute
            await server.start()
            replies = await asyncio.gather(*(get(port_of(daemon), CHAT) for _ in range(8)))
            assert {_code(reply) for reply in replies} == {"upstream_unavailable"}
            # One after the other, each would have had the time for a probe of its own.
            assert len(mute.seen) < 8
            await daemon.stop(grace=0)
            mute.gate.set()

    run(main())


def test_a_proof_is_renewed_after_its_age_even_if_its_connection_lives() -> None:
    async def main() -> None:
        now = 0.0
        asks = Http(401)
        async with upstream(asks) as server:
            guard = TokenGuard(Address(LOCAL, server.port), seconds=5, clock=lambda: now)
            _, writer = await connect(server.port)
            sock = writer.get_extra_info("socket")
            for moment, probes in [(0.0, 1), (29.0, 1), (30.0, 2), (31.0, 2)]:
                now = moment
                await guard.check(sock)
                assert asks.paths().count(PROBE) == probes
            guard.close()
            await hang_up(writer)

    run(main())
