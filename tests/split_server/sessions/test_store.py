"""The holders of sessions: limits, eviction, expiry and ownership."""

from __future__ import annotations

import pytest

from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.errors import TooManySessions, UnknownSession
from tests.split_server.kv.filling import Clock, chain, framed, held, store_of


def framed_session(store: SessionStore, principal: str) -> Session:
    session = store.open(principal, chain(), "f32")
    framed(session)
    return session


def test_ids_are_unguessable_and_never_repeat() -> None:
    store = store_of(max_sessions=100, max_sessions_per_principal=100)
    keys = {store.open("ann", chain(), "f32").key for _ in range(100)}
    assert len(keys) == 100
    assert all(len(key) >= 22 for key in keys)


def test_nobody_reaches_another_principals_session() -> None:
    store = store_of()
    key = store.open("ann", chain(), "f32").key
    with pytest.raises(UnknownSession):
        store.get("bob", key)
    store.close("bob", key)
    assert store.get("ann", key).key == key


def test_at_the_limit_the_least_recently_used_idle_session_goes() -> None:
    store = store_of(max_sessions=3)
    first, second, third = (store.open("ann", chain(), "f32") for _ in range(3))
    store.get("ann", first.key)
    store.open("ann", chain(), "f32")
    with pytest.raises(UnknownSession):
        store.get("ann", second.key)
    assert store.get("ann", first.key) is first
    assert store.get("ann", third.key) is third


def test_a_busy_session_is_never_evicted() -> None:
    store = store_of(max_sessions=2)
    busy, idle = store.open("ann", chain(), "f32"), store.open("ann", chain(), "f32")
    busy.running = 1
    store.open("ann", chain(), "f32")
    assert store.get("ann", busy.key) is busy
    with pytest.raises(UnknownSession):
        store.get("ann", idle.key)


def test_somebody_elses_session_stays_where_its_principal_holds_no_more() -> None:
    store = store_of(max_sessions=2)
    store.open("ann", chain(), "f32")
    store.open("bob", chain(), "f32").running = 1
    with pytest.raises(TooManySessions):
        store.open("bob", chain(), "f32")
    assert len(store) == 2


def test_idle_sessions_of_one_principal_lock_nobody_out() -> None:
    clock = Clock()
    store = store_of(clock, active=5.0)
    mine = [framed_session(store, "ann") for _ in range(32)]
    clock.now += 10
    framed_session(store, "eve")
    yours = [framed_session(store, "bob") for _ in range(32)]
    assert [len(held(store, name)) for name in ("ann", "bob", "eve")] == [31, 32, 1]
    assert set(held(store, "bob")) == set(yours)
    assert set(held(store, "ann")) == set(mine[1:])


def test_under_pressure_the_largest_holder_gives_up_its_longest_idle_session() -> None:
    store = store_of(max_sessions=6)
    few, many = (
        [store.open(name, chain(), "f32") for _ in range(n)] for name, n in (("ann", 2), ("bob", 4))
    )
    store.get("bob", many[0].key)
    store.open("eve", chain(), "f32")
    assert (held(store, "ann"), held(store, "bob")) == (few, [many[2], many[3], many[0]])


def test_at_its_own_limit_a_principal_gives_up_its_own_session() -> None:
    store = store_of(max_sessions=10, max_sessions_per_principal=3)
    for name in ("ann", "bob"):
        for _ in range(3):
            store.open(name, chain(), "f32")
    store.open("ann", chain(), "f32")
    assert [len(held(store, name)) for name in ("ann", "bob")] == [3, 3]


def test_a_session_that_was_just_used_is_not_evicted_and_a_newcomer_is_told_when() -> None:
    clock = Clock()
    store = store_of(clock, max_sessions=2, active=5.0)
    first, second = framed_session(store, "ann"), framed_session(store, "ann")
    clock.now += 4
    store.get("ann", second.key)
    with pytest.raises(TooManySessions) as refusal:
        store.open("ann", chain(), "f32")
    assert refusal.value.retry_after == 1.0
    clock.now += 1
    store.open("ann", chain(), "f32")
    assert held(store, "ann")[0] is second
    assert first not in held(store, "ann")


def test_a_session_that_takes_no_frames_is_protected_like_any_other() -> None:
    clock = Clock()
    store = store_of(clock, max_sessions=1, active=5.0)
    store.open("ann", chain(), "f32", "named")
    with pytest.raises(TooManySessions) as refused:
        store.open("ann", chain(), "f32")
    assert refused.value.retry_after == 5.0


def test_a_session_whose_client_rests_makes_way_until_it_is_used_again() -> None:
    store = store_of(max_sessions=2, active=5.0)
    resting, other = (store.open("ann", chain(), "f32") for _ in range(2))
    store.rest(resting)
    store.use(resting)
    with pytest.raises(TooManySessions):
        store.open("ann", chain(), "f32")
    store.rest(resting)
    assert store.open("ann", chain(), "f32") in held(store, "ann")
    assert held(store, "ann")[0] is other
    assert resting not in held(store, "ann")


def test_a_principals_own_limit_holds_below_the_total() -> None:
    store = store_of(max_sessions=10, max_sessions_per_principal=2)
    first = store.open("ann", chain(), "f32")
    for _ in range(2):
        store.open("ann", chain(), "f32")
    store.open("bob", chain(), "f32")
    assert len(store) == 3
    with pytest.raises(UnknownSession):
        store.get("ann", first.key)


def test_when_all_are_busy_one_more_is_refused() -> None:
    store = store_of(max_sessions=1)
    store.open("ann", chain(), "f32").running = 1
    with pytest.raises(TooManySessions):
        store.open("ann", chain(), "f32")


def test_an_idle_session_expires_and_a_used_one_does_not() -> None:
    clock = Clock()
    store = store_of(clock, ttl=300)
    idle, used = store.open("ann", chain(), "f32"), store.open("ann", chain(), "f32")
    clock.now += 200
    store.get("ann", used.key)
    clock.now += 200
    assert store.get("ann", used.key) is used
    with pytest.raises(UnknownSession):
        store.get("ann", idle.key)


def test_a_running_session_does_not_expire() -> None:
    clock = Clock()
    store = store_of(clock, ttl=300)
    session = store.open("ann", chain(), "f32")
    session.running = 1
    clock.now += 1000
    store.sweep()
    assert store.get("ann", session.key) is session


def test_sessions_at_work_of_whoever_has_most_make_way_up_to_an_equal_share() -> None:
    store = store_of(Clock(), max_sessions=6, max_sessions_per_principal=3, active=5.0)
    for principal in ("ann", "bob"):
        for _ in range(3):
            framed_session(store, principal)
    framed_session(store, "cleo")
    framed_session(store, "cleo")
    assert [len(held(store, name)) for name in ("ann", "bob", "cleo")] == [2, 2, 2]
    with pytest.raises(TooManySessions):
        framed_session(store, "cleo")
    with pytest.raises(TooManySessions):
        framed_session(store, "ann")


def test_a_busy_session_makes_no_way_for_an_equal_share() -> None:
    store = store_of(Clock(), max_sessions=4, max_sessions_per_principal=4, active=5.0)
    for _ in range(4):
        framed_session(store, "ann").running = 1
    with pytest.raises(TooManySessions):
        framed_session(store, "bob")
