"""Where many devices end up: each opens a session by its own routing id and keeps it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TypeAlias

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from scripts.bench.fleet.balancers import Balancer
from scripts.bench.fleet.replicas import TOKEN, Replica
from scripts.bench.report import table
from scripts.bench.row_sessions import Served
from split_wire.client import ClientProtocol, SessionOpened, StepCompleted
from split_wire.messages import SUBPROTOCOL

# Sessions of the fullest replica over an even share.
MOST_UNEVEN = 1.25
# Devices behind one address; a balancer bounds what comes from one.
_OF_ONE_ADDRESS = 100
_AT_ONCE = 32
_WITHIN = 120.0
_Device: TypeAlias = tuple[ClientConnection, ClientProtocol]


def spread(
    replicas: Sequence[Replica], balancers: Sequence[Balancer], served: Served, devices: int
) -> list[str]:
    """Print how many sessions each replica has; what was not as wanted, of HAProxy alone: nginx
    knows no bound of load.
    """
    rows, problems = [], []
    for balancer in balancers:
        counts, failures = asyncio.run(_counted(replicas, balancer.url, served, devices))
        problems += [f"{balancer.name}: {failure}" for failure in failures[:3]]
        uneven = max(counts) * len(counts) / devices
        kept = uneven <= MOST_UNEVEN
        rows.append([balancer.name, ", ".join(map(str, counts)), f"{uneven:.3f} x"])
        if not kept and balancer.name == balancers[0].name:
            problems.append(f"{balancer.name}: {uneven:.3f} times an even share at one replica")
    print(f"\n{devices:,} devices over {len(replicas)} replicas.\n")
    print(table(["balancer", "sessions of each", f"fullest over even (<= {MOST_UNEVEN})"], rows))
    return problems


async def _counted(
    replicas: Sequence[Replica], url: str, served: Served, devices: int
) -> tuple[list[int], list[str]]:
    """Sessions of each replica while all devices have theirs; what failed."""
    gate, failures = asyncio.Semaphore(_AT_ONCE), list[str]()
    opened: list[_Device] = []
    async with AsyncExitStack() as stack:

        async def come(number: int) -> None:
            async with gate:
                try:
                    opened.append(await _open(stack, url, served, number))
                except Exception as error:  # noqa: BLE001 (whatever it is, it is told)
                    failures.append(f"device {number}: {error!r}")

        await asyncio.gather(*(come(number) for number in range(devices)))
        counts = [int(one.gauge("split_sessions")) for one in replicas]
        await asyncio.gather(*(_close(*one) for one in opened))
    return counts, failures


async def _open(stack: AsyncExitStack, url: str, served: Served, number: int) -> _Device:
    """One device's socket, session and first step."""
    address = f"127.0.1.{1 + number // _OF_ONE_ADDRESS}"
    socket = await stack.enter_async_context(
        connect(
            f"ws{url.removeprefix('http')}/api/v1/split/stream?s={secrets.token_urlsafe(16)}",
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            additional_headers={"Authorization": f"Bearer {TOKEN}"},
            compression=None,
            proxy=None,
            open_timeout=_WITHIN,
            local_addr=(address, 0),
        )
    )
    protocol = ClientProtocol(served.hidden_size, served.manifest, cache="off")
    opened = protocol.receive(await _exchanged(socket, protocol.open()))
    if not isinstance(opened, SessionOpened):
        raise RuntimeError(f"no session: {opened}")  # noqa: TRY004
    row = np.full((1, served.hidden_size), 0.05, np.float32)
    stepped = protocol.receive(await _exchanged(socket, protocol.step(0, row)))
    if not isinstance(stepped, StepCompleted):
        raise RuntimeError(f"no step: {stepped}")  # noqa: TRY004
    return socket, protocol


async def _close(socket: ClientConnection, protocol: ClientProtocol) -> None:
    """End the session, so that the next count begins with none."""
    frame = protocol.close()
    if frame is not None:
        await _exchanged(socket, frame)


async def _exchanged(socket: ClientConnection, frame: bytes) -> bytes:
    async with asyncio.timeout(_WITHIN):
        await socket.send(frame)
        answer = await socket.recv()
    assert isinstance(answer, bytes)
    return answer
