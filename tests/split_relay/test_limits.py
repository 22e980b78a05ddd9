from __future__ import annotations

import resource
from contextlib import ExitStack

import pytest

from split_relay.errors import TooManyConnections
from split_relay.limits import ConnectionLimits, allow_descriptors


def test_the_total_is_bounded_over_all_addresses() -> None:
    limits = ConnectionLimits(total=2, per_address=2)
    with ExitStack() as stack:
        stack.enter_context(limits.slot("192.0.2.1"))
        stack.enter_context(limits.slot("192.0.2.2"))
        with pytest.raises(TooManyConnections, match="2 connections through this relay") as caught:
            stack.enter_context(limits.slot("192.0.2.3"))
    assert not caught.value.per_address
    assert caught.value.retryable


def test_one_address_leaves_room_for_others() -> None:
    limits = ConnectionLimits(total=9, per_address=1)
    with limits.slot("192.0.2.1"):
        with (
            pytest.raises(TooManyConnections, match="1 connections from your address"),
            limits.slot("192.0.2.1"),
        ):
            pytest.fail("a second slot was given")
        with limits.slot("192.0.2.2"):
            assert limits._count == 2


def test_a_slot_is_free_again_after_its_connection() -> None:
    limits = ConnectionLimits(total=1, per_address=1)
    for _ in range(3):
        with limits.slot("192.0.2.1"):
            pass
    assert limits._open == {}


def test_a_refusal_takes_no_slot() -> None:
    limits = ConnectionLimits(total=1, per_address=1)
    with limits.slot("a"), pytest.raises(TooManyConnections), limits.slot("b"):
        pass
    assert (limits._count, dict(limits._open)) == (0, {})


def test_descriptors_are_raised_up_to_the_hard_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: asked.append(pair))
    assert allow_descriptors(256) == 256
    assert allow_descriptors(10_000) == (4096 - 128) // 2
    assert asked == [(2 * 256 + 128, 4096), (4096, 4096)]


def test_enough_descriptors_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_000_000, 1_000_000))
    monkeypatch.delattr(resource, "setrlimit")
    assert allow_descriptors(256) == 256
