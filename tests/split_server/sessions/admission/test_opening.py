"""Sessions of devices that say whether they wait for one, where a full server has neighbours."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from split_server.sessions.admission.newcomers import Newcomers
from split_server.sessions.making_way import StoreLimits
from split_wire.client import SessionOpened, StepFailed
from tests.engines import Device, TinySessions, run, serving
from tests.patience import PATIENCE

# Sessions that are in use for as long as the test may take make way for nobody.
_ONE = StoreLimits(1, 1, ttl=1e6, active=1e5)


def _replica(path: Path, **options: Any) -> Any:
    return serving(path, limits=_ONE, open_within=PATIENCE, queue_newcomers=False, **options)


async def _asked(service: TinySessions, path: Path, *, wait: bool) -> Any:
    device = Device(service, path)
    return await device.send(device.protocol.open(wait=wait))


def _code(event: Any) -> str:
    assert isinstance(event, StepFailed)
    return event.failure.code


async def _queued(service: TinySessions) -> Newcomers:
    """The queue, once somebody is in it."""
    newcomers = service.steps.opening._newcomers
    for _ in range(1_000_000):
        if len(newcomers):
            return newcomers
        await asyncio.sleep(0)
    pytest.fail("nobody waits")


def test_a_full_replica_refuses_at_once_and_says_that_it_may_be_asked_again(
    tiny_path: Path,
) -> None:
    async def scenario() -> None:
        async with _replica(tiny_path) as service:
            await Device(service, tiny_path).open()
            event = await _asked(service, tiny_path, wait=False)
            assert _code(event) == "too_many_sessions"
            assert event.failure.retryable
            assert event.failure.retry_after
            assert len(service.store) == 1

    run(scenario())


def test_a_full_replica_lets_a_device_wait_that_says_so(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with _replica(tiny_path) as service:
            first = await Device(service, tiny_path).open()
            waiting = asyncio.create_task(_asked(service, tiny_path, wait=True))
            newcomers = await _queued(service)
            # Nobody passes by whoever waits, and nobody who is refused is left in the queue.
            assert _code(await _asked(service, tiny_path, wait=False)) == "too_many_sessions"
            assert len(newcomers) == 1
            await first.close()
            assert isinstance(await waiting, SessionOpened)

    run(scenario())


@pytest.mark.parametrize("wait", [False, True])
def test_a_server_without_neighbours_lets_every_device_wait(tiny_path: Path, wait: bool) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, limits=_ONE, open_within=PATIENCE) as service:
            first = await Device(service, tiny_path).open()
            waiting = asyncio.create_task(_asked(service, tiny_path, wait=wait))
            await _queued(service)
            await first.close()
            assert isinstance(await waiting, SessionOpened)

    run(scenario())


def test_a_place_that_is_free_is_given_at_once_whatever_a_device_says(tiny_path: Path) -> None:
    async def scenario() -> None:
        for wait in (False, True):
            async with _replica(tiny_path) as service:
                assert isinstance(await _asked(service, tiny_path, wait=wait), SessionOpened)

    run(scenario())


@pytest.mark.parametrize(
    ("queues", "wait", "seconds"),
    [(False, False, 0.0), (False, True, 5.0), (True, False, None), (True, True, None)],
)
def test_a_device_waits_for_a_short_time_where_it_may_ask_a_neighbour(
    tiny_path: Path, queues: bool, wait: bool, seconds: float | None
) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, open_within=20.0, queue_newcomers=queues) as service:
            assert service.steps.opening.patience_of(wait=wait) == seconds

    run(scenario())


def test_a_replica_that_lets_nobody_wait_for_long_lets_nobody_wait_longer(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, open_within=1.5, queue_newcomers=False) as service:
            assert service.steps.opening.patience_of(wait=True) == 1.5

    run(scenario())
