"""Sockets that are dismissed, whether or not their peers read."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, ExitStack
from typing import Any

from split_server.http.wire import sockets
from split_server.http.wire.quota import Quota
from split_server.http.wire.sockets import PACE_EXTENSION, Sockets
from split_server.security.hanging_up import ABORT_EXTENSION
from tests.engines import run
from tests.patience import PATIENCE


class Peer:
    """A WebSocket; ``stuck``: nothing but the handshake is ever sent to it."""

    def __init__(self, stuck: bool = False) -> None:
        self.stuck = stuck
        self.sent: list[Any] = []
        self.inbox: asyncio.Queue[Any] = asyncio.Queue()
        self.inbox.put_nowait({"type": "websocket.connect"})
        self.scope: dict[str, Any] = {
            "type": "websocket",
            "headers": [],
            "extensions": {ABORT_EXTENSION: self._gone},
        }

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close":
            if self.stuck:
                await asyncio.Event().wait()
            self._gone()
        self.sent.append(message)

    def _gone(self) -> None:
        self.inbox.put_nowait({"type": "websocket.disconnect", "code": 1006})


async def _served(open_sockets: Sockets, peer: Peer, ready: asyncio.Event) -> None:
    with open_sockets.enter("somebody", peer.scope, peer.inbox.get, peer.send) as websocket:
        await websocket.accept()
        ready.set()
        assert (await websocket.receive())["type"] == "websocket.disconnect"


def test_sockets_that_do_not_read_keep_no_other_from_its_goodbye(monkeypatch: Any) -> None:
    monkeypatch.setattr(sockets, "FAREWELL_SECONDS", 0.05)

    async def scenario() -> None:
        quotas = Quota(1 << 20, "bytes"), Quota(1 << 20, "bytes")
        open_sockets = Sockets(64, 60.0, *quotas)
        peers = [*(Peer(stuck=True) for _ in range(20)), *(Peer() for _ in range(5))]
        async with asyncio.timeout(PATIENCE), AsyncExitStack() as stack:
            group = await stack.enter_async_context(asyncio.TaskGroup())
            for peer in peers:
                ready = asyncio.Event()
                group.create_task(_served(open_sockets, peer, ready))
                await ready.wait()
            await open_sockets.drain()
        told = [peer.sent[-1].get("code") for peer in peers if not peer.stuck]
        assert told == [1012] * 5

    run(scenario())


def test_the_sockets_of_one_principal_share_a_pace_and_others_have_their_own() -> None:
    async def scenario() -> None:
        quotas = Quota(1 << 20, "bytes"), Quota(1 << 20, "bytes")
        open_sockets = Sockets(64, 60.0, *quotas)
        peers = [Peer() for _ in range(3)]
        paces = []
        with ExitStack() as stack:
            for name, peer in zip(("one", "one", "other"), peers, strict=True):
                entered = open_sockets.enter(name, peer.scope, peer.inbox.get, peer.send)
                stack.enter_context(entered)
                paces.append(peer.scope["extensions"][PACE_EXTENSION])
            assert paces[0] is paces[1] is not paces[2]
            paces[0].spend(100_000)
        # What was too much is not forgiven by coming again.
        again = Peer()
        with open_sockets.enter("one", again.scope, again.inbox.get, again.send):
            assert again.scope["extensions"][PACE_EXTENSION].rest() > 1.0

    run(scenario())
