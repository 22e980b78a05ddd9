"""Sessions that clients name: found again, lost, forgotten, within their principal."""

from __future__ import annotations

import pytest

from split_wire.errors import UnknownSession
from tests.split_server.kv.filling import Clock, chain, fill, store_of


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
