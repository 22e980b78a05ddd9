"""Places for generations: who gets the next one, and who is sent away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from split_server.compat.places import Places
from split_wire.errors import Overloaded
from tests.engines import run


class _Line:
    """Those who ask for a place, and the order in which they got it."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.got: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def ask(self, principal: str, count: int = 1) -> None:
        for _ in range(count):
            self.tasks.append(asyncio.create_task(self._taken(principal)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def leave(self, principal: str) -> None:
        self.places.leave(principal)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def _taken(self, principal: str) -> None:
        await self.places.take(principal)
        self.got.append(principal)


def _scenario(work: Callable[[_Line], Coroutine[Any, Any, None]], places: Places) -> None:
    async def main() -> None:
        line = _Line(places)
        await work(line)
        for task in line.tasks:
            task.cancel()
        await asyncio.gather(*line.tasks, return_exceptions=True)
        assert places.waiting == 0

    run(main())


def test_a_place_goes_to_whoever_has_the_fewest() -> None:
    async def work(line: _Line) -> None:
        await line.ask("many", 10)
        await line.ask("one")
        await line.leave("many")
        assert line.got == ["many", "many", "one"]
        await line.leave("many")
        assert line.got[3:] == ["many"]

    _scenario(work, Places(2, 20))


def test_whoever_has_none_gets_a_spare_place_at_once() -> None:
    async def work(line: _Line) -> None:
        await line.ask("many", 5)
        await line.ask("one", 2)
        await line.ask("other")
        assert line.got == ["many", "many", "one"]
        await line.leave("one")
        assert line.got[3:] == ["other"]
        await line.leave("other")
        assert line.got[4:] == ["one"]

    _scenario(work, Places(2, 20, spare=1))


def test_who_has_most_waiting_makes_room_for_somebody_else() -> None:
    async def work(line: _Line) -> None:
        await line.ask("many", 5)
        await line.ask("one")
        assert line.places.waiting == 4
        refused = [task for task in line.tasks if task.done() and task.exception()]
        assert len(refused) == 1
        with pytest.raises(Overloaded) as told:
            await refused[0]
        assert told.value.retry_after
        with pytest.raises(Overloaded):
            await line.places.take("many")
        await line.leave("many")
        assert line.got == ["many", "one"]

    _scenario(work, Places(1, 4))


def test_a_place_that_came_to_somebody_who_left_goes_on_to_the_next() -> None:
    async def work(line: _Line) -> None:
        await line.ask("a", 3)
        line.places.leave("a")
        line.tasks[1].cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert line.got == ["a", "a"]
        assert line.places.running == 1
        await line.leave("a")
        assert line.places.running == 0

    _scenario(work, Places(1, 4))


def test_who_leaves_while_waiting_is_not_waited_for() -> None:
    async def work(line: _Line) -> None:
        await line.ask("a", 3)
        line.tasks[1].cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert line.places.waiting == 1
        await line.leave("a")
        assert line.places.running == 1

    _scenario(work, Places(1, 4))
