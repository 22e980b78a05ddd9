"""Connections that are cut when their token is taken back, however little their peer reads."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from split_server.security.hanging_up import ABORT_EXTENSION
from split_server.security.leases import LOCKED_OUT, Lease, LeaseGuard, Leases
from split_server.security.principal import Credential, set_credential
from tests.engines import run
from tests.patience import PATIENCE

_GONE, _STAYS = Credential("gone", b"1"), Credential("stays", b"2")


class Peer:
    """A connection; ``stuck``: nothing is ever sent to it."""

    def __init__(self, kind: str, stuck: bool = False) -> None:
        self.stuck = stuck
        self.sent: list[Any] = []
        self.aborted = asyncio.Event()
        self.scope = {"type": kind, "extensions": {ABORT_EXTENSION: self.aborted.set}}

    async def send(self, message: Any) -> None:
        if self.stuck:
            await asyncio.Event().wait()
        self.sent.append(message)

    async def receive(self) -> Any:
        return {"type": f"{self.scope['type']}.receive"}

    def lease(self) -> Lease:
        return Lease(self.scope, self.receive, self.send)


@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_a_peer_that_does_not_read_keeps_no_other_one_alive(kind: str) -> None:
    async def scenario() -> None:
        leases = Leases()
        stuck = [Peer(kind, stuck=True) for _ in range(20)]
        reader = Peer("websocket")
        for peer in [*stuck, reader]:
            leases.add(_GONE, peer.lease())
        async with asyncio.timeout(PATIENCE):
            leases.keep(lambda credential: credential != _GONE)
            await asyncio.gather(*(peer.aborted.wait() for peer in [*stuck, reader]))
        assert reader.sent == [{"type": "websocket.close", "code": 1008, "reason": "revoked"}]

    run(scenario())


def test_whoever_is_locked_out_is_not_told_that_the_token_is_gone() -> None:
    async def scenario() -> None:
        leases, peer = Leases(), Peer("websocket")
        leases.add(_GONE, peer.lease())
        leases.keep(lambda _: False, LOCKED_OUT)
        await asyncio.wait_for(peer.aborted.wait(), PATIENCE)
        (told,) = peer.sent
        assert (told["code"], told["reason"]) == (1013, "state_unavailable")

    run(scenario())


def test_who_stays_is_left_alone() -> None:
    async def scenario() -> None:
        leases, peer = Leases(), Peer("http")
        leases.add(_STAYS, peer.lease())
        leases.keep(lambda credential: credential == _STAYS)
        assert not peer.aborted.is_set()

    run(scenario())


def test_after_the_cut_nothing_is_sent_and_nothing_more_is_taken() -> None:
    async def scenario() -> None:
        peer = Peer("http")
        lease = peer.lease()
        lease.cut()
        await lease.send({"type": "http.response.body"})
        assert peer.sent == []
        assert (await lease.receive())["type"] == "http.disconnect"

    run(scenario())


def test_a_message_that_arrives_during_the_cut_is_not_taken() -> None:
    async def scenario() -> None:
        peer, arrived = Peer("websocket"), asyncio.Event()

        async def receive() -> Any:
            await arrived.wait()
            return {"type": "websocket.receive", "bytes": b"a step"}

        lease = Lease(peer.scope, receive, peer.send)
        waiting = asyncio.ensure_future(lease.receive())
        await asyncio.sleep(0)
        lease.cut()
        arrived.set()
        assert (await waiting)["type"] == "websocket.disconnect"

    run(scenario())


def test_a_connection_that_is_gone_ends_the_cut_quietly() -> None:
    async def scenario() -> None:
        peer = Peer("websocket")

        async def send(_: Any) -> None:
            raise RuntimeError("after websocket.close")

        lease = Lease(peer.scope, peer.receive, send)
        lease.cut()
        assert lease._goodbye is not None
        await lease._goodbye
        await asyncio.wait_for(peer.aborted.wait(), PATIENCE)

    run(scenario())


def test_only_what_came_with_a_token_is_tracked_and_only_while_it_lasts() -> None:
    async def scenario() -> None:
        leases, seen = Leases(), []

        async def app(*_: Any) -> None:
            seen.append(dict(leases._open))

        guard = LeaseGuard(app, leases)
        for credential in (None, _STAYS):
            peer = Peer("http")
            if credential is not None:
                set_credential(peer.scope, credential)
            await guard(peer.scope, peer.receive, peer.send)
        assert [list(held) for held in seen] == [[], [_STAYS]]
        assert not leases._open

    run(scenario())
