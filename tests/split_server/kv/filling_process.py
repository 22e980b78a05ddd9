"""A process of its own that fills a store's budget and prints what that does to its memory.

One line of JSON: the store's bytes and the private bytes of the process above those at the start,
first with the budget full, then after every session has been closed and the pool cleared.
"""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import count, cycle
from pathlib import Path

import torch

from split_server.kv.buffers import BufferPool
from split_server.kv.capacity import capacity_for
from split_server.memory.budget import BudgetLimits, ByteBudget
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.errors import CacheFull
from tests.split_server.kv.filling import chain

BUDGET = 200_000_000
LAYERS, HEADS, WIDTH = 4, 2, 64
BYTES_PER_POSITION = LAYERS * 2 * HEADS * WIDTH * 4
SLICE = 128
# Whole size classes, because pages that were never written to take no memory.
LENGTHS = tuple(capacity_for(length) for length in (3000, 700, 1500, 5000))


def private_bytes() -> int:
    """Pages of this process that no other shares (Linux, proc(5))."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


def fill(store: SessionStore, session: Session, positions: int) -> None:
    """Steps of up to 128 rows, as a long prefill comes."""
    for start in range(0, positions, SLICE):
        rows = min(SLICE, positions - start)
        store.reserve(session, start + rows)
        for layer in range(LAYERS):
            block = torch.ones(1, HEADS, rows, WIDTH)
            session.cache.layer(layer).append(block, block)
        session.cache.grown_to(start + rows)
        store.settle(session)


def main() -> None:
    pool = BufferPool(BUDGET // 8)
    store = SessionStore(StoreLimits(), ByteBudget(BudgetLimits(BUDGET), BYTES_PER_POSITION, pool))
    warm = store.open("warm", chain(), "f32")
    fill(store, warm, LENGTHS[0])
    store.close("warm", warm.key)
    pool.clear()
    start = private_bytes()
    opened = []
    with suppress(CacheFull):
        # A principal each, so that none evicts another's session.
        for number, length in zip(count(), cycle(LENGTHS)):
            opened.append(store.open(f"principal {number}", chain(), "f32"))
            fill(store, opened[-1], length)
    full = {"bytes": store.bytes, "private": private_bytes() - start}
    for session in opened:
        store.close(session.principal, session.key)
    pool.clear()
    closed = {"bytes": store.bytes, "private": private_bytes() - start}
    print(json.dumps({"sessions": len(opened), "full": full, "closed": closed}))


if __name__ == "__main__":
    main()
