"""Newcomers who wait for a session, and whose turn it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from split_server.sessions.admission.newcomers import Newcomers
from split_server.sessions.session import Session
from split_wire.errors import ShuttingDown, TooManySessions
from tests.engines import run
from tests.split_server.kv.filling import chain


class House:
    """Has so many ``places``; newcomers wait for ``patience`` seconds."""

    def __init__(self, places: int, patience: float = 30.0) -> None:
        self.places = places
        self.inside: list[str] = []
        self.newcomers = Newcomers(patience, self.leave)

    def leave(self, session: Session) -> None:
        self.inside.remove(session.key)
        self.newcomers.wake()

    async def enter(self, principal: str, name: str) -> Session:
        def make() -> Session:
            if len(self.inside) >= self.places:
                raise TooManySessions(self.places, 1.0)
            self.inside.append(name)
            return Session(principal, name, chain(), "f32")

        return await self.newcomers.turn(principal, make)

    def arrive(self, *names: str) -> list[asyncio.Task[Session]]:
        """Newcomers whose names begin with their principal's."""
        return [asyncio.create_task(self.enter(name.split()[0], name)) for name in names]


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0.001)


def test_a_newcomer_waits_until_somebody_leaves() -> None:
    async def scenario() -> None:
        house = House(1)
        first = await house.enter("ann", "ann 1")
        [waiting] = house.arrive("ann 2")
        await settled()
        assert not waiting.done()
        house.leave(first)
        assert (await waiting).key == "ann 2"

    run(scenario())


def test_principals_take_turns_and_whoever_came_first_goes_first_within_one() -> None:
    async def scenario() -> None:
        house = House(1)
        session = await house.enter("eve", "eve")
        waiting = house.arrive("ann 1", "ann 2", "ann 3", "bob 1")
        await settled()
        order = []
        while waiting:
            house.leave(session)
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            [entered] = done
            waiting.remove(entered)
            session = entered.result()
            order.append(session.key)
        assert order == ["ann 1", "bob 1", "ann 2", "ann 3"]

    run(scenario())


def test_nobody_overtakes_those_who_wait() -> None:
    async def scenario() -> None:
        house = House(1)
        first = await house.enter("eve", "eve")
        house.arrive("ann 1")
        await settled()
        house.leave(first)
        house.arrive("bob 1")
        await settled()
        assert house.inside == ["ann 1"]

    run(scenario())


def test_after_its_patience_a_newcomer_is_refused_and_told_when_to_come_back() -> None:
    async def scenario() -> None:
        house = House(0, patience=0.01)
        with pytest.raises(TooManySessions) as refusal:
            await house.enter("ann", "ann")
        assert refusal.value.retry_after == 1.0
        assert len(house.newcomers) == 0

    run(scenario())


def test_who_leaves_while_it_waits_gets_nothing() -> None:
    async def scenario() -> None:
        house = House(1)
        first = await house.enter("ann", "ann 1")
        gone, waiting = house.arrive("ann 2", "ann 3")
        await settled()
        gone.cancel()
        await settled()
        house.leave(first)
        assert (await waiting).key == "ann 3"
        assert house.inside == ["ann 3"]

    run(scenario())


def test_a_session_made_for_somebody_who_leaves_at_that_moment_is_ended() -> None:
    async def scenario() -> None:
        house = House(0)
        [waiting] = house.arrive("ann")
        await settled()
        house.places = 1
        house.newcomers._serve()
        waiting.cancel()
        await settled()
        assert house.inside == []

    run(scenario())


def test_another_refusal_reaches_whoever_waits() -> None:
    async def scenario() -> None:
        refusals: list[Callable[[], Exception]] = [lambda: TooManySessions(1, 0.1)] * 2
        refusals.append(ShuttingDown)

        def make() -> Session:
            raise refusals.pop(0)()

        with pytest.raises(ShuttingDown):
            await Newcomers(30.0, lambda _: None).turn("ann", make)

    run(scenario())


def test_so_many_may_wait_and_no_more() -> None:
    async def scenario() -> None:
        house = House(0)
        mine = house.arrive(*(f"ann {number}" for number in range(64)))
        await settled()
        with pytest.raises(TooManySessions):
            await house.enter("ann", "ann 64")
        others = house.arrive(*(f"user{number} 0" for number in range(192)))
        await settled()
        assert len(house.newcomers) == 256
        with pytest.raises(TooManySessions):
            await house.enter("eve", "eve")
        for task in (*mine, *others):
            task.cancel()
        await settled()
        assert len(house.newcomers) == 0

    run(scenario())
