"""Buffers go back when their session is gone and rests, and the budget holds at all times."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from split_server.kv.buffers import BufferPool
from split_server.memory.budget import BudgetLimits, ByteBudget
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.digest import PrefixChain
from split_wire.errors import CacheFull, TooManySessions, UnknownSession
from split_wire.messages import Step
from split_wire.session import Run
from split_wire.tensor import Tensor
from tests.exhaustive import EXHAUSTIVE
from tests.split_server.kv.filling import (
    BYTES_PER_POSITION,
    UNIT,
    Clock,
    append,
    chain,
    fill,
    framed,
    store_of,
)


def test_a_closed_session_gives_its_buffers_to_the_next_one() -> None:
    pool = BufferPool(100 * UNIT)
    store = store_of(pool=pool)
    old = store.open("ann", chain(), "f32")
    fill(store, old, 7)
    places = {old.cache.layer(0).keys.data_ptr(), old.cache.layer(0).values.data_ptr()}
    store.close("ann", old.key)
    assert (pool.idle_bytes, store.bytes) == (UNIT, UNIT)
    new = store.open("bob", chain(), "f32")
    fill(store, new, 7)
    assert {new.cache.layer(0).keys.data_ptr(), new.cache.layer(0).values.data_ptr()} == places
    assert (pool.idle_bytes, store.bytes) == (0, UNIT)


def test_an_evicted_and_an_expired_session_give_their_buffers_back() -> None:
    pool, clock = BufferPool(100 * UNIT), Clock()
    store = store_of(clock, pool, max_sessions=2, ttl=300)
    first, second = (store.open("ann", chain(), "f32") for _ in range(2))
    fill(store, first, 40)
    fill(store, second, 7)
    store.open("ann", chain(), "f32")
    assert pool.idle_bytes == 2 * UNIT
    clock.now += 400
    store.sweep()
    assert pool.idle_bytes == 3 * UNIT
    assert (first.cache.length, second.cache.length) == (0, 0)


def test_a_session_that_goes_while_steps_run_keeps_its_buffers_until_the_last_ends() -> None:
    pool = BufferPool(100 * UNIT)
    store = store_of(pool=pool)
    session = store.open("ann", chain(), "f32")
    store.reserve(session, 40)
    session.running = 2
    store.close("ann", session.key)
    append(session, 40)
    session.running = 1
    store.settle(session)
    assert (pool.idle_bytes, session.cache.length) == (0, 40)
    session.running = 0
    store.settle(session)
    assert (pool.idle_bytes, session.cache.length) == (2 * UNIT, 0)
    assert store.bytes == 2 * UNIT


def test_a_session_that_is_gone_gets_no_further_step() -> None:
    store = store_of()
    session = store.open("ann", chain(), "f32")
    fill(store, session, 7)
    store.close("ann", session.key)
    with pytest.raises(UnknownSession):
        store.reserve(session, 8)
    assert store.bytes == 0


def test_idle_buffers_make_way_before_a_session_is_evicted() -> None:
    pool = BufferPool(10 * UNIT)
    store = store_of(pool=pool, total=10 * UNIT)
    gone, idle, asking = (store.open("ann", chain(), "f32") for _ in range(3))
    fill(store, gone, 4 * 32)
    fill(store, idle, 4 * 32)
    store.close("ann", gone.key)
    assert pool.idle_bytes == 4 * UNIT
    store.reserve(asking, 5 * 32)
    assert store.get("ann", idle.key) is idle
    assert pool.idle_bytes <= UNIT


def test_idle_buffers_make_way_for_another_principal_before_it_is_refused() -> None:
    pool = BufferPool(10 * UNIT)
    store = store_of(pool=pool, total=10 * UNIT)
    gone = store.open("ann", chain(), "f32")
    fill(store, gone, 9 * 32)
    store.close("ann", gone.key)
    fill(store, store.open("bob", chain(), "f32"), 7 * 32)
    assert store.bytes <= 10 * UNIT


def test_a_store_keeps_an_eighth_of_its_budget_idle_at_most() -> None:
    store = SessionStore(StoreLimits(), ByteBudget(BudgetLimits(80 * UNIT), BYTES_PER_POSITION))
    sessions = [store.open("ann", chain(), "f32") for _ in range(4)]
    for session in sessions:
        fill(store, session, 4 * 32)
    for session in sessions:
        store.close("ann", session.key)
    assert store.bytes == 10 * UNIT


def test_a_step_that_needs_no_further_bytes_is_not_refused_over_a_full_budget() -> None:
    store = store_of(total=UNIT)
    session = store.open("ann", chain(), "f32")
    fill(store, session, 7)
    remember_a_reply(session, bytes(100))
    # The chain of the one row that was answered counts as well.
    assert store.bytes == UNIT + 100 + 16
    fill(store, session, 32)
    assert session.cache.length == 32
    with pytest.raises(CacheFull):
        store.reserve(session, 33)


def remember_a_reply(session: Session, reply: bytes) -> None:
    rows = Tensor.from_f32(np.ones((1, 4), np.float32), "f32")
    state = framed(session)
    admitted = state.admit(Step(session.key, 1, 0, PrefixChain("manifest").at(0), rows), b"mark")
    assert isinstance(admitted, Run)
    state.complete(admitted, reply)


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["open", "begin", "begin", "end", "end", "close", "wait"]),
        st.sampled_from(["ann", "bob"]),
        st.integers(0, 1 << 16),
        st.integers(1, 400),
    ),
    max_size=60,
)


class Life:
    """A store under random moves; after each of them its books must agree with the buffers."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.pool = BufferPool(8 * UNIT)
        self.store = store_of(
            self.clock, self.pool, max_sessions=5, total=40 * UNIT,
            per_principal=30 * UNIT, ttl=300,
        )  # fmt: skip
        self.sessions: list[Session] = []
        self.running: dict[Session, int] = {}

    def move(self, kind: str, principal: str, choice: int, positions: int) -> None:
        mine = [session for session in self.sessions if session.principal == principal]
        if kind == "wait":
            self.clock.now += choice % 400
        elif kind == "open":
            with suppress(TooManySessions):
                self.sessions.append(self.store.open(principal, chain(), "f32"))
        elif mine:
            session = mine[choice % len(mine)]
            if kind == "close":
                self.store.close(principal, session.key)
            elif kind == "begin" and session not in self.running:
                self.begin(session, choice, positions)
            elif kind == "end" and session in self.running:
                self.end(session)

    def begin(self, session: Session, choice: int, positions: int) -> None:
        start = min(choice % (session.cache.length + 1), positions - 1)
        try:
            self.store.reserve(session, positions)
        except UnknownSession:
            return
        except CacheFull as refusal:
            self.check(session, positions, refusal)
            return
        session.running = 1
        self.running[session] = positions
        session.cache.truncate(start)

    def check(self, session: Session, positions: int, refusal: CacheFull) -> None:
        """What fits is exactly what the refusal says."""
        assert refusal.needed > refusal.free
        assert refusal.positions == positions > refusal.fits
        with pytest.raises(CacheFull) as again:
            self.store.reserve(session, refusal.fits + 1)
        assert (again.value.free, again.value.fits) == (refusal.free, refusal.fits)
        self.store.reserve(session, refusal.fits)
        self.store.settle(session)

    def end(self, session: Session) -> None:
        append(session, self.running.pop(session))
        session.running = 0
        self.store.settle(session)

    def agree(self) -> None:
        """What is counted is what is held, or a little more while steps run."""
        held = self.pool.idle_bytes + sum(s.cache.allocated_bytes for s in self.sessions)
        assert held <= self.store.bytes <= 40 * UNIT
        if not self.running:
            assert held == self.store.bytes


@settings(max_examples=200 if EXHAUSTIVE else 60, deadline=None)
@given(MOVES)
def test_the_books_agree_with_the_buffers_and_refusals_say_what_fits(
    moves: list[tuple[str, str, int, int]],
) -> None:
    life = Life()
    for move in moves:
        life.move(*move)
        life.agree()
    for session in list(life.running):
        life.end(session)
        life.agree()
