"""Several models in one memory: none is promised what another was, nor given what it needs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest
import torch

from split_server.kv.buffers import BufferPool
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run import Run, block_ends
from split_server.kv.run_pool import RunPool
from split_server.memory.budget import BudgetLimits
from split_server.memory.limit import MemoryLimit, Room, memory_limit_of
from split_server.memory.measured import MeasuredRoom
from split_server.memory.plan import MemoryPlan
from split_server.memory.planner import RESERVE, MemoryPlanner
from split_server.memory.shared import SharedMemory, steady
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.digest import PrefixChain
from split_wire.errors import CacheFull
from tests.split_server.memory.planning import HEAD_DIM, KV_HEADS, LAYERS, SHAPE, grow

_MIB = 1 << 20


class Place:
    """A model's store over its room in ``house``."""

    def __init__(
        self, house: House, budget: int, reserve: int, runs: RunPool | None, idle: int
    ) -> None:
        limit = MemoryLimit([lambda: Room(house.free, "test")])
        pool, seat = BufferPool(idle), house.shared.seat()
        planner = MemoryPlanner(MemoryPlan(SHAPE), limit, pool, reserve, seat)
        self.room = MeasuredRoom(BudgetLimits(budget, budget), planner, runs)
        self.store = SessionStore(StoreLimits(ttl=1e9), self.room)

    @property
    def held(self) -> int:
        """What an operating system would see: rows that were written, and what waits."""
        return self.room.written

    def step(self, positions: int, principal: str = "ann", session: Session | None = None) -> None:
        session = session or self.open(principal)
        self.store.reserve(session, positions)
        grow(session.cache, positions)
        self.store.settle(session)

    def open(self, principal: str = "ann") -> Session:
        return self.store.open(principal, PrefixChain("m"), "f32")


@dataclass
class House:
    """``total`` bytes for all models; ``weights``: that loaded ones take of them."""

    total: int
    weights: int = 0
    places: list[Place] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shared = SharedMemory(lambda: self.weights + self.caches)

    @property
    def caches(self) -> int:
        return sum(place.held for place in self.places)

    @property
    def free(self) -> int:
        return self.total - self.weights - self.caches

    def place(
        self,
        budget: int = 1 << 40,
        reserve: int = 0,
        runs: RunPool | None = None,
        idle: int = 0,
    ) -> Place:
        made = Place(self, budget, reserve, runs, idle)
        self.places.append(made)
        return made


def _run(positions: int) -> Run:
    """What a session of so many ``positions`` leaves."""
    names = {at: str(at).encode().ljust(32) for at in block_ends(0, positions)}
    layers = [torch.zeros(2, KV_HEADS, positions, HEAD_DIM) for _ in range(LAYERS)]
    return Run("ann", 0, positions, bytes(16 * positions), names, layers, None)


def _fitting(place: Place) -> int:
    """The most positions that a new session could have now."""
    with pytest.raises(CacheFull) as refusal:
        place.store.reserve(place.open("probe"), 4096)
    return refusal.value.fits


def test_a_model_alone_has_all_that_it_would_have_by_itself() -> None:
    planner = House(8 * _MIB).place().room.planner
    alone = MemoryPlanner(MemoryPlan(SHAPE), planner.limit, BufferPool(0), 0)
    cache = House(1).place().open().cache
    assert planner.room() == alone.room()
    assert planner.forecast(cache, 512, 512) == alone.forecast(cache, 512, 512)
    assert planner.rooms() == planner.limit.rooms()


def test_what_one_model_was_promised_is_not_free_for_another() -> None:
    house = House(14 * _MIB)
    first, second = house.place(), house.place()
    before = _fitting(second)
    session = first.open()
    first.store.reserve(session, 1024)
    assert _fitting(second) < before - 400
    first.store.settle(session)
    assert _fitting(second) == before


def test_what_will_still_be_written_of_one_models_buffers_is_not_free_for_another() -> None:
    house = House(8 * _MIB)
    first, second = house.place(), house.place()
    before = second.room.planner.room().free
    first.step(1000)
    untouched = first.room.untouched
    assert untouched > 0
    assert second.room.planner.room().free == before - first.held - untouched


def test_the_largest_pass_of_any_model_stays_free() -> None:
    house = House(64 * _MIB)
    first, second = house.place(), house.place()
    cache = second.open().cache
    alone = second.room.planner.forecast(cache, 16, 16).needed
    first.step(2048)
    wanted = second.room.planner.forecast(cache, 16, 16).needed
    assert first.room.workspace > second.room.planner.workspace(16)
    assert wanted - alone == first.room.workspace - second.room.planner.workspace(16)


def test_bytes_that_stay_free_for_texts_do_so_for_each_model_and_the_rest_once() -> None:
    house = House(RESERVE + 32 * _MIB)
    first = house.place(reserve=RESERVE + 3 * _MIB)
    before = first.room.planner.room().free
    second = house.place(reserve=RESERVE + 5 * _MIB)
    assert first.room.planner.room().free == before - 5 * _MIB
    second.room.close()
    assert first.room.planner.room().free == before


def test_caches_of_all_models_stay_within_one_budget() -> None:
    house = House(1 << 40)
    first, second = house.place(budget=4 * _MIB), house.place(budget=3 * _MIB)
    first.step(900)
    assert first.room.budget.total == second.room.budget.total == 3 * _MIB
    left = 3 * _MIB - first.room.budget.in_use
    with pytest.raises(CacheFull) as refusal:
        second.step(1024)
    assert refusal.value.free == left
    second.step(refusal.value.fits)
    assert first.room.budget.in_use + second.room.budget.in_use <= 3 * _MIB


def test_a_principals_share_counts_in_all_models() -> None:
    house = House(1 << 40)
    first, second = house.place(), house.place()
    limits = BudgetLimits(1 << 40, 3 * _MIB)
    for place in (first, second):
        place.room.budget._limits = limits
    first.step(1000, "ann")
    with pytest.raises(CacheFull):
        second.step(1024, "ann")
    second.step(1024, "bob")


def test_the_budget_is_the_first_models_again_when_the_other_has_gone() -> None:
    house = House(1 << 40)
    first, second = house.place(budget=4 * _MIB), house.place(budget=3 * _MIB)
    second.room.close()
    assert first.room.budget.total == 4 * _MIB
    assert house.shared.members == (first.room,)


def test_buffers_that_wait_in_one_model_make_way_for_another() -> None:
    house = House(14 * _MIB)
    first, second = house.place(idle=4 * _MIB), house.place()
    session = first.open()
    first.step(1500, session=session)
    first.store.close("ann", session.key)
    assert first.room.waiting > 2 * _MIB
    second.step(2350)
    assert first.room.waiting < 2 * _MIB


def test_what_one_model_keeps_for_later_makes_way_for_sessions_of_another() -> None:
    house, runs = House(14 * _MIB), RunPool(PoolLimits())
    first, second = house.place(runs=runs), house.place()
    runs.add(_run(1024))
    assert first.room.waiting == runs.held_bytes > 2 * _MIB
    with pytest.raises(CacheFull):
        second.step(3200)
    assert len(runs) == 1
    second.step(2350)
    assert len(runs) == 0


def test_what_waits_in_all_models_together_fits_into_what_holdings_leave() -> None:
    house, budget = House(1 << 40), 4 * _MIB
    first = house.place(budget=budget, idle=budget)
    second = house.place(budget=budget, idle=budget)
    for place in (first, second):
        sessions = [place.open() for _ in range(3)]
        for session in sessions:
            place.step(500, session=session)
        for session in sessions:
            place.store.close("ann", session.key)
    waiting = first.room.waiting + second.room.waiting
    assert 0 < waiting <= budget
    second.step(1900)
    held = sum(place.room.reserved + place.room.waiting for place in (first, second))
    assert held <= budget


def test_what_a_model_needs_that_is_loaded_is_promised_to_it_until_it_has_it() -> None:
    house = House(32 * _MIB)
    first = house.place()
    before = first.room.planner.room().free
    with house.shared.loading(10 * _MIB):
        own = house.shared.seat()
        assert first.room.planner.room().free == before - 10 * _MIB
        assert own.spoken_for == 0
        house.weights = 6 * _MIB
        assert first.room.planner.room().free == before - 10 * _MIB
        first.step(1000)
        assert first.room.planner.room().free == before - 10 * _MIB - first.held - (
            first.room.untouched
        )
        house.weights = 12 * _MIB
        assert first.room.planner.seat.spoken_for == 0
    house.weights = 0
    assert first.room.planner.seat.spoken_for == 0


def test_memory_that_goes_back_while_a_model_is_loaded_makes_no_larger_promise() -> None:
    house = House(32 * _MIB, weights=8 * _MIB)
    seat = house.place().room.planner.seat
    with house.shared.loading(10 * _MIB):
        house.weights = 0
        assert seat.spoken_for == 10 * _MIB


def test_a_share_of_memory_is_one_for_all_models() -> None:
    shared, cpu = SharedMemory(), torch.device("cpu")
    first = memory_limit_of(cpu, share=0.5, seat=shared.seat())
    taken = bytearray(64 * _MIB)
    second = memory_limit_of(cpu, share=0.5, seat=shared.seat())
    del taken
    rooms = [
        next(room for room in limit.rooms() if room.source == "--memory-share")
        for limit in (first, second)
    ]
    assert abs(rooms[0].free - rooms[1].free) < 16 * _MIB


def test_sums_are_taken_again_while_what_they_go_over_changes() -> None:
    house = House(1 << 40)
    first, second = house.place(), house.place()
    stop = threading.Event()
    failures = list[BaseException]()

    def read() -> None:
        try:
            while not stop.is_set():
                seat = second.room.planner.seat
                assert seat.reserved >= 0
                assert seat.untouched >= 0
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(200):
        session = first.open()
        first.step(16, session=session)
        first.store.close("ann", session.key)
    stop.set()
    thread.join()
    assert not failures


def test_what_never_holds_still_is_told() -> None:
    def read() -> int:
        raise RuntimeError("changed size during iteration")

    with pytest.raises(RuntimeError):
        steady(read)
