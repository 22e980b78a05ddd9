"""Who finds what a session computed, and what becomes of it when the session goes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from split_server.sessions.making_way import StoreLimits
from split_wire.codec import decode_server_message
from split_wire.messages import Result
from tests.engines import Device
from tests.split_server.sessions.test_reuse import PROMPT, keeping, settled


@pytest.mark.parametrize(
    ("owner", "salt", "other", "other_salt", "held"),
    [
        ("ann", None, "ann", None, 96),
        ("ann", None, "bob", None, 0),
        ("ann", None, "ann", "s", 0),
        ("ann", "s", "ann", "s", 96),
        ("ann", "s", "ann", "t", 0),
        ("anybody", None, "anybody", None, 0),
        ("anybody", "s", "anybody", "s", 96),
        ("anybody", "s", "anybody", "t", 0),
    ],
)
def test_only_the_same_principal_with_the_same_salt_finds_it(
    tiny_path: Path, owner: str, salt: str | None, other: str, other_salt: str | None, held: int
) -> None:
    async def scenario() -> tuple[int, int]:
        async with keeping(tiny_path) as service:
            await (await Device(service, tiny_path, owner, salt=salt).open()).step(0, PROMPT)
            device = Device(service, tiny_path, other, salt=other_salt)
            found = await device.reopen(PROMPT)
            sending = await Device(service, tiny_path, other, salt=other_salt).open()
            answer = await service.handle(other, sending.frame(0, PROMPT))
            return found, _reused(answer.frame)

    assert asyncio.run(scenario()) == (held, held)


def _reused(frame: bytes) -> int:
    message = decode_server_message(frame, 1 << 24)
    assert isinstance(message, Result), message
    return message.reused


def test_a_session_that_asks_for_no_keeping_leaves_and_finds_nothing(tiny_path: Path) -> None:
    async def scenario() -> list[int]:
        async with keeping(tiny_path) as service:
            off = await Device(service, tiny_path, cache="off").open()
            await off.step(0, PROMPT)
            await off.close()
            await settled(service)
            found = [await Device(service, tiny_path).reopen(PROMPT)]
            await (await Device(service, tiny_path).open()).step(0, PROMPT)
            return [*found, await Device(service, tiny_path, cache="off").reopen(PROMPT)]

    assert asyncio.run(scenario()) == [0, 0]


def test_another_wire_dtype_finds_nothing(tiny_path: Path) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            await (await Device(service, tiny_path).open()).step(0, PROMPT)
            return await Device(service, tiny_path, dtype="bf16").reopen(PROMPT)

    assert asyncio.run(scenario()) == 0


@pytest.mark.parametrize("how", ["expired", "evicted", "forgotten"])
def test_a_session_that_is_lost_is_parked_unless_its_principal_is(
    tiny_path: Path, how: str
) -> None:
    now = [0.0]
    limits = StoreLimits(max_sessions_per_principal=1, ttl=10.0)

    async def scenario() -> int:
        async with keeping(tiny_path, limits=limits, clock=lambda: now[0]) as service:
            device = await Device(service, tiny_path).open()
            for at in range(60):
                await device.step(at, [PROMPT[at]])
            if how == "expired":
                now[0] = 11.0
                service.steps.sweep()
            elif how == "evicted":
                await Device(service, tiny_path).open()
            else:
                service.steps.forget(lambda name: name == "local")
            await settled(service)
            return await Device(service, tiny_path).reopen(PROMPT[:60])

    assert asyncio.run(scenario()) == (0 if how == "forgotten" else 60)


def test_what_is_kept_of_a_principal_that_is_forgotten_is_gone(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, int, int]:
        async with keeping(tiny_path) as service:
            await (await Device(service, tiny_path, "ann").open()).step(0, PROMPT)
            await (await Device(service, tiny_path, "bob").open()).step(0, PROMPT)
            service.steps.forget(lambda name: name == "ann")
            kept = service.steps.reuse
            assert kept is not None
            found = [
                await Device(service, tiny_path, name).reopen(PROMPT) for name in ("ann", "bob")
            ]
            return *found, kept.pool.held_by("ann")

    assert asyncio.run(scenario()) == (0, 96, 0)
