"""Fills the caches of sessions as the model thread does, with rows of a known size."""

from __future__ import annotations

from typing import Any

import torch

from split_server.kv.buffers import BufferPool
from split_server.memory.budget import BudgetLimits, ByteBudget
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.session import Framing, Session
from split_server.sessions.store import SessionStore
from split_wire.digest import PrefixChain
from split_wire.session import SessionState

# One layer, one head, one float32 number per key and per value.
BYTES_PER_POSITION = 8
# What a buffer of the smallest size class takes: 32 positions.
UNIT = 32 * BYTES_PER_POSITION


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def chain() -> PrefixChain:
    return PrefixChain("manifest")


def framed(session: Session) -> SessionState:
    """The protocol state of ``session``, which takes frames from now on."""
    session.framing = Framing(SessionState(session.chain, 4, 512, 100))
    return session.framing.state


def store_of(
    clock: Clock | None = None,
    pool: BufferPool | None = None,
    total: int = 4 << 30,
    per_principal: int = 4 << 30,
    **limits: Any,
) -> SessionStore:
    """A store within a byte budget that keeps no idle buffers unless it is given a pool."""
    pool = BufferPool(0) if pool is None else pool
    room = ByteBudget(BudgetLimits(total, per_principal), BYTES_PER_POSITION, pool)
    return SessionStore(StoreLimits(**limits), room, clock=clock or Clock())


def held(store: SessionStore, principal: str) -> list[Session]:
    """The sessions of ``principal``, the longest idle first."""
    return [session for session in store._all() if session.principal == principal]


def append(session: Session, positions: int) -> None:
    """Cache rows until ``positions`` are held."""
    rows = torch.arange(float(session.cache.length), float(positions)).reshape(1, 1, -1, 1)
    session.cache.layer(0).append(rows, -rows)
    session.cache.grown_to(positions)


def fill(store: SessionStore, session: Session, positions: int) -> None:
    """Reserve and really cache ``positions``."""
    store.reserve(session, positions)
    append(session, positions)
    store.settle(session)
