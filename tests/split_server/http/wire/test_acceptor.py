"""Connections that arrive while the server lets go of them: none is left open, no place is lost."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Iterator

import pytest

from split_server.http.wire.acceptor import Acceptor
from split_server.http.wire.doors import Doors
from tests.patience import PATIENCE


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def connected(listening: socket.socket) -> socket.socket:
    return socket.create_connection(listening.getsockname(), timeout=PATIENCE)


def test_a_connection_whose_turn_has_not_come_is_closed_and_has_no_place(
    listening: socket.socket,
) -> None:
    doors = Doors()

    async def scenario() -> None:
        acceptor = Acceptor(doors, None, lambda _: asyncio.Protocol())
        accepted, address = listening.accept()
        acceptor._admit(accepted, address[0])
        assert len(doors) == 1
        await acceptor.stop()

    with connected(listening) as ours:
        asyncio.run(scenario())
        assert len(doors) == 0
        assert ours.recv(1) == b""


def test_a_connection_that_comes_at_the_end_is_not_left_open(listening: socket.socket) -> None:
    doors = Doors()

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        acceptor = Acceptor(doors, None, lambda _: asyncio.Protocol())
        acceptor.start([listening])
        await asyncio.sleep(0)
        ours.append(connected(listening))
        # Once the connection has been heard of, and before anything is done about it.
        loop.call_later(0, acceptor._accepting[0].cancel)
        await asyncio.wait([*acceptor._accepting])
        await acceptor.stop()

    ours: list[socket.socket] = []
    asyncio.run(scenario())
    # What is left open is told when it is collected.
    gc.collect()
    ours[0].close()
    assert len(doors) == 0
