"""One session's rows are never read by another, whatever the order of their lives."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from split_server.kv.buffers import BufferPool
from split_server.memory.budget import BudgetLimits, ByteBudget
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.errors import CacheFull, TooManySessions, UnknownSession
from tests.exhaustive import EXHAUSTIVE
from tests.split_server.kv.filling import chain

LAYERS = 2
HEADS, WIDTH = 2, 3
BYTES_PER_POSITION = LAYERS * 2 * HEADS * WIDTH * 4
LIMITS = StoreLimits(max_sessions=6, max_sessions_per_principal=4)
TOTAL = 1200 * BYTES_PER_POSITION
MOVES = st.lists(
    st.tuples(
        st.sampled_from(["open", "step", "step", "step", "close"]),
        st.sampled_from(["ann", "bob"]),
        st.integers(0, 1 << 16),
        st.integers(1, 150),
    ),
    max_size=40,
)


@dataclass
class Reference:
    """A session and what it must hold: keys and values of every layer, joined by torch.cat."""

    session: Session
    held: list[torch.Tensor] = field(
        default_factory=lambda: [torch.empty(2, 1, HEADS, 0, WIDTH) for _ in range(LAYERS)]
    )

    def step(self, start: int, count: int, generator: torch.Generator) -> None:
        """Truncate, append to every layer and compare what comes back."""
        cache = self.session.cache
        cache.truncate(start)
        for index in range(LAYERS):
            rows = torch.randn(2, 1, HEADS, count, WIDTH, generator=generator)
            self.held[index] = torch.cat([self.held[index][:, :, :, :start], rows], dim=3)
            seen = torch.stack(cache.layer(index).append(rows[0], rows[1]))
            assert not seen.isnan().any()
            assert torch.equal(seen, self.held[index])
        cache.grown_to(start + count)


@settings(max_examples=150 if EXHAUSTIVE else 50, deadline=None)
@given(MOVES)
def test_sessions_of_two_principals_see_their_own_rows_alone(
    moves: list[tuple[str, str, int, int]],
) -> None:
    pool = BufferPool(TOTAL // 2, poison=True)
    room = ByteBudget(BudgetLimits(TOTAL), BYTES_PER_POSITION, pool)
    store = SessionStore(LIMITS, room, clock=lambda: 0.0)
    generator = torch.Generator().manual_seed(0)
    references: list[Reference] = []
    for move, principal, choice, count in moves:
        mine = [x for x in references if x.session.principal == principal]
        if move == "open":
            references += opened(store, principal)
        elif mine:
            chosen = mine[choice % len(mine)]
            if move == "close":
                store.close(principal, chosen.session.key)
            else:
                step(store, chosen, choice, count, generator)
        references = [x for x in references if is_there(store, x.session)]


def opened(store: SessionStore, principal: str) -> list[Reference]:
    try:
        return [Reference(store.open(principal, chain(), "f32"))]
    except TooManySessions:
        return []


def step(
    store: SessionStore, chosen: Reference, choice: int, count: int, generator: torch.Generator
) -> None:
    start = choice % (chosen.session.cache.length + 1)
    try:
        store.reserve(chosen.session, start + count)
    except CacheFull:
        return
    chosen.session.running = 1
    chosen.step(start, count, generator)
    chosen.session.running = 0
    store.settle(chosen.session)
    assert store.bytes <= TOTAL


def is_there(store: SessionStore, session: Session) -> bool:
    """Evicted sessions gave their buffers away and must not be read."""
    with suppress(UnknownSession):
        return store.get(session.principal, session.key) is session
    return False
