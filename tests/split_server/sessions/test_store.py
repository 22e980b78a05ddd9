"""The holders of sessions: limits, eviction, expiry and ownership."""

from __future__ import annotations

import pytest

from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.errors import CacheFull, TooManySessions, UnknownSession
from split_wire.tensor import Tensor
from tests.split_server.kv.filling import UNIT, Clock, chain, fill, framed, store_of


def framed_session(store: SessionStore, principal: str) -> Session:
    session = store.open(principal, chain(), "f32")
    framed(session)
    return session


def held(store: SessionStore, principal: str) -> list[Session]:
    """The sessions of ``principal``, the longest idle first."""
    return [session for session in store._all() if session.principal == principal]


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


def test_a_clients_own_names_live_inside_its_principal() -> None:
    store = store_of()
    mine = store.open("ann", chain(), "f32", "chat")
    yours = store.open("bob", chain(), "f32", "chat")
    assert store.find_named("ann", "chat") is mine
    assert store.find_named("bob", "chat") is yours
    assert store.find_named("ann", "other") is None


def test_a_named_session_that_was_lost_is_not_continued_until_it_starts_anew() -> None:
    clock = Clock()
    store = store_of(clock, ttl=300)
    store.open("ann", chain(), "f32", "chat")
    clock.now += 400
    with pytest.raises(UnknownSession):
        store.find_named("ann", "chat")
    with pytest.raises(UnknownSession):
        store.find_named("ann", "chat")
    anew = store.open("ann", chain(), "f32", "chat")
    assert store.find_named("ann", "chat") is anew


def test_opening_a_name_again_replaces_its_session() -> None:
    store = store_of()
    first = store.open("ann", chain(), "f32", "chat")
    fill(store, first, 5)
    second = store.open("ann", chain(), "f32", "chat")
    assert store.find_named("ann", "chat") is second
    assert store.bytes == 0


def test_a_closed_name_may_be_used_again_as_if_new() -> None:
    store = store_of()
    store.open("ann", chain(), "f32", "chat")
    store.close_named("ann", "chat")
    assert store.find_named("ann", "chat") is None


def test_nobody_erases_what_another_principal_has_lost() -> None:
    store = store_of(max_sessions=2)
    lost = store.open("ann", chain(), "f32", "chat")
    store.lose(lost)
    for number in range(1100):
        store.lose(store.open("bob", chain(), "f32", f"chat {number}"))
    with pytest.raises(UnknownSession):
        store.find_named("ann", "chat")


def test_the_losses_of_a_principal_that_is_gone_are_forgotten() -> None:
    store = store_of()
    store.lose(store.open("ann", chain(), "f32", "chat"))
    store.forget(lambda principal: principal == "ann")
    assert store.find_named("ann", "chat") is None


def test_losses_are_remembered_in_bounded_number() -> None:
    store = store_of(max_sessions=1)
    for number in range(1100):
        store.open("ann", chain(), "f32", f"chat {number}")
    assert store.find_named("ann", "chat 0") is None
    with pytest.raises(UnknownSession):
        store.find_named("ann", "chat 1098")


def test_a_clients_own_name_is_not_reached_as_a_session_id() -> None:
    store = store_of()
    mine = store.open("ann", chain(), "f32", "chat")
    with pytest.raises(UnknownSession):
        store.get("ann", mine.key)
    store.close("ann", mine.key)
    assert store.find_named("ann", "chat") is mine


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
