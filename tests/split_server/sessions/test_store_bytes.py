"""What sessions may hold: bytes counted, reserved, and given up for others."""

from __future__ import annotations

import pytest

from split_wire.errors import CacheFull, TooManySessions, UnknownSession
from split_wire.tensor import Tensor
from tests.split_server.kv.filling import UNIT, Clock, chain, fill, held, store_of


def test_a_session_in_use_is_not_evicted_for_the_memory_of_a_newcomer() -> None:
    clock = Clock()
    store = store_of(clock, total=4 * UNIT, active=5.0)
    chats = [store.open("ann", chain(), "f32") for _ in range(2)]
    for chat in chats:
        fill(store, chat, 64)
    clock.now += 2.0
    newcomer = store.open("ann", chain(), "f32")
    with pytest.raises(CacheFull) as refused:
        store.reserve(newcomer, 32)
    assert refused.value.retry_after == 3.0
    assert held(store, "ann") == [*chats, newcomer]
    store.get("ann", chats[0].key)
    clock.now += 3.0
    store.reserve(newcomer, 32)
    assert held(store, "ann") == [newcomer, chats[0]] or held(store, "ann") == [
        chats[0],
        newcomer,
    ]


def test_a_busy_session_is_waited_for_and_a_step_that_can_never_fit_is_not() -> None:
    store = store_of(total=4 * UNIT, active=5.0)
    busy, newcomer = (store.open("ann", chain(), "f32") for _ in range(2))
    store.reserve(busy, 64)
    busy.running = 1
    with pytest.raises(CacheFull) as refused:
        store.reserve(newcomer, 96)
    assert refused.value.retry_after is not None
    with pytest.raises(CacheFull) as refused:
        store.reserve(newcomer, 1000)
    assert refused.value.retry_after is None


def test_who_is_in_use_the_longest_takes_the_memory_of_who_came_last() -> None:
    clock = Clock()
    store = store_of(clock, total=6 * UNIT, active=5.0)
    first, second, third = (store.open("ann", chain(), "f32") for _ in range(3))
    for session in (third, second, first):
        fill(store, session, 64)
    with pytest.raises(CacheFull):
        store.reserve(third, 96)
    store.reserve(first, 96)
    assert third not in held(store, "ann")
    # After a rest a session is the last one that came.
    clock.now += 6.0
    store.get("ann", second.key)
    store.get("ann", first.key)
    fill(store, second, 128)
    assert held(store, "ann") == [second]


def test_bytes_are_counted_by_the_buffers_that_are_held() -> None:
    store = store_of()
    session = store.open("ann", chain(), "f32")
    fill(store, session, 7)
    assert store.bytes == UNIT
    fill(store, session, 200)
    assert store.bytes == 7 * UNIT
    session.cache.truncate(3)
    store.settle(session)
    assert store.bytes == 7 * UNIT
    fill(store, session, 4)
    assert store.bytes == UNIT
    store.close("ann", session.key)
    assert store.bytes == 0


def test_a_reservation_evicts_the_principals_oldest_idle_sessions_as_needed() -> None:
    store = store_of(total=9 * UNIT)
    old, new, asking = (store.open("ann", chain(), "f32") for _ in range(3))
    fill(store, old, 4 * 32)
    fill(store, new, 4 * 32)
    fill(store, asking, 5 * 32)
    with pytest.raises(UnknownSession):
        store.get("ann", old.key)
    assert store.get("ann", new.key) is new
    assert store.bytes == 9 * UNIT


def test_a_reservation_that_cannot_fit_evicts_nothing() -> None:
    store = store_of(total=10 * UNIT)
    idle, asking = store.open("ann", chain(), "f32"), store.open("ann", chain(), "f32")
    fill(store, idle, 4 * 32)
    with pytest.raises(CacheFull) as refusal:
        store.reserve(asking, 12 * 32)
    assert (refusal.value.needed, refusal.value.free) == (12 * UNIT, 10 * UNIT)
    assert refusal.value.fits == 9 * 32
    assert store.get("ann", idle.key) is idle
    assert asking.reserved == 0


def test_a_principals_bytes_are_limited_below_the_total() -> None:
    store = store_of(total=100 * UNIT, per_principal=5 * UNIT)
    asking = store.open("ann", chain(), "f32")
    with pytest.raises(CacheFull):
        store.reserve(asking, 6 * 32)
    fill(store, asking, 5 * 32)
    other = store.open("bob", chain(), "f32")
    fill(store, other, 5 * 32)
    assert store.bytes == 10 * UNIT


def test_a_session_closed_while_running_counts_until_its_step_ends() -> None:
    store = store_of(max_sessions=1)
    session = store.open("ann", chain(), "f32")
    store.reserve(session, 5)
    session.running = 1
    store.close("ann", session.key)
    assert store.bytes == UNIT
    with pytest.raises(TooManySessions):
        store.open("ann", chain(), "f32")
    session.running = 0
    store.settle(session)
    assert store.bytes == 0
    store.open("ann", chain(), "f32")


def test_a_session_that_holds_nothing_is_not_given_up_for_memory() -> None:
    store = store_of(total=2 * UNIT)
    fresh = store.open("ann", chain(), "f32")
    held = store.open("ann", chain(), "f32")
    fill(store, held, 64)
    store.get("ann", held.key)
    growing = store.open("ann", chain(), "f32")
    store.reserve(growing, 64)
    assert store.get("ann", fresh.key) is fresh
    with pytest.raises(UnknownSession):
        store.get("ann", held.key)


def test_the_chain_that_names_a_cache_counts_with_it() -> None:
    store = store_of()
    session = store.open("ann", chain(), "f32")
    session.chain.replace(0, session.chain.following(0, Tensor("f32", (50, 1), bytes(200))))
    assert (session.bytes, store.bytes) == (800, 800)
