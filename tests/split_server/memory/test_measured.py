"""Sessions within the memory that is measured, whatever the budget would allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from split_server.memory.budget import BudgetLimits
from split_server.memory.limit import Room
from split_server.memory.measured import MeasuredRoom
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.digest import PrefixChain
from split_wire.errors import CacheFull, UnknownSession
from tests.split_server.memory.planning import Memory, grow, planner_with


@dataclass
class Held(Memory):
    """``free`` bytes but for those that are ``held``."""

    held: Callable[[], int] = lambda: 0

    def room(self) -> Room:
        room = super().room()
        return replace(room, free=room.free - self.held())


class Crowd:
    """A store within ``total`` bytes; sessions take what their buffers have.

    ``idle``: bytes of buffers that may wait, of which a share is ``untouched``.
    """

    untouched = 0.0

    def __init__(self, total: int, budget: int = 1 << 40, idle: int = 0) -> None:
        self.memory = Held(total, held=lambda: self.held)
        planner = planner_with(self.memory, idle=idle)
        self.room = MeasuredRoom(BudgetLimits(budget, budget), planner)
        self.store = SessionStore(StoreLimits(ttl=1e9), self.room)

    @property
    def held(self) -> int:
        """What an operating system would see of the caches."""
        buffers = sum(session.cache.allocated_bytes for session in self.store._all())
        return buffers + round((1 - self.untouched) * self.room.planner.pool.idle_bytes)

    def open(self, principal: str) -> Session:
        return self.store.open(principal, PrefixChain("m"), "f32")

    def step(self, session: Session, positions: int) -> None:
        self.store.reserve(session, positions)
        session.running += 1
        grow(session.cache, positions)
        session.running -= 1
        self.store.settle(session)


def test_a_step_that_fits_is_counted_and_one_that_does_not_is_refused() -> None:
    crowd = Crowd(5_600_000)
    first, second = crowd.open("ada"), crowd.open("babbage")
    crowd.step(first, 512)
    reserved, held = crowd.room.budget.in_use, crowd.held
    with pytest.raises(CacheFull) as refusal:
        crowd.store.reserve(second, 1000)
    error = refusal.value
    assert error.positions == 1000
    assert error.needed > error.free
    assert error.fits < 1000
    assert (crowd.room.budget.in_use, crowd.held) == (reserved, held)
    crowd.step(second, error.fits)


def test_idle_sessions_of_the_principal_make_way_and_no_others() -> None:
    crowd = Crowd(5_600_000)
    own, foreign, new = crowd.open("ada"), crowd.open("babbage"), crowd.open("ada")
    crowd.step(own, 512)
    crowd.step(foreign, 100)
    crowd.step(new, 700)
    assert crowd.store.get("babbage", foreign.key) is foreign
    with pytest.raises(UnknownSession):
        crowd.store.get("ada", own.key)


def test_what_the_budget_already_had_given_up_is_not_missed() -> None:
    crowd = Crowd(5_600_000, budget=1_600_000)
    own, new = crowd.open("ada"), crowd.open("ada")
    crowd.step(own, 512)
    crowd.step(new, 700)
    assert new.cache.length == 700
    with pytest.raises(UnknownSession):
        crowd.store.get("ada", own.key)


def test_nothing_is_given_up_for_a_step_that_would_not_fit_even_then() -> None:
    crowd = Crowd(5_600_000)
    own, new = crowd.open("ada"), crowd.open("ada")
    crowd.step(own, 300)
    with pytest.raises(CacheFull):
        crowd.store.reserve(new, 4000)
    assert crowd.store.get("ada", own.key) is own


def test_a_step_within_its_buffers_asks_nobody() -> None:
    crowd = Crowd(5_600_000)
    session = crowd.open("ada")
    crowd.step(session, 100)
    before = crowd.memory.readings
    for positions in range(101, 129):
        crowd.step(session, positions)
    assert crowd.memory.readings == before
    crowd.step(session, 129)
    assert crowd.memory.readings > before


def test_two_steps_that_have_taken_nothing_yet_do_not_share_memory() -> None:
    crowd = Crowd(5_600_000)
    first, second = crowd.open("ada"), crowd.open("babbage")
    crowd.store.reserve(first, 600)
    first.running += 1
    with pytest.raises(CacheFull):
        crowd.store.reserve(second, 600)
    first.running -= 1
    crowd.store.settle(first)
    crowd.store.reserve(second, 600)
    assert crowd.room.budget.in_use == crowd.room.planner.plan.cache_bytes(600)


def test_a_session_that_holds_nothing_is_not_given_up_when_memory_is_short() -> None:
    crowd = Crowd(5_600_000)
    fresh, held, growing = (crowd.open("ada") for _ in range(3))
    crowd.step(held, 640)
    crowd.step(growing, 700)
    assert crowd.store.get("ada", fresh.key) is fresh
    with pytest.raises(UnknownSession):
        crowd.store.get("ada", held.key)


def test_pages_of_idle_buffers_that_were_never_written_to_are_not_taken_for_free() -> None:
    crowd = Crowd(1 << 40, idle=1 << 40)
    first, second, new = (crowd.open("ada") for _ in range(3))
    crowd.step(first, 512)
    crowd.step(second, 512)
    size = first.cache.allocated_bytes
    crowd.untouched = 0.5
    needed = crowd.room.planner.forecast(new.cache, 700, 700).needed
    # With the first buffers idle it fits by what they count, and not by what they would give back.
    crowd.memory.free = needed + 3 * size // 4
    crowd.store.reserve(new, 700)
    with pytest.raises(UnknownSession):
        crowd.store.get("ada", second.key)
