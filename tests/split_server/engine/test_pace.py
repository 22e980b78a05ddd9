"""The engine's waits for the next token, by how fast each device answers."""

from __future__ import annotations

import gc

import pytest

from split_server.engine.pace import Paces
from split_server.kv.cache import KVCache


def decoding(
    paces: Paces, cache: KVCache, turnaround: float, tokens: int, at: float = 0.0
) -> float:
    """Decode ``tokens`` with passes of 30 ms; when the last was served."""
    for _ in range(tokens):
        paces.served(cache, at)
        at += turnaround
        paces.arrived(cache, at)
        at += 0.030
    paces.served(cache, at)
    return at


def test_a_device_that_answers_fast_is_waited_for() -> None:
    paces, cache = Paces(), KVCache()
    at = decoding(paces, cache, 0.006, 30)
    until = paces.hold_until(at, patience=0.015)
    assert until == pytest.approx(at + 0.006, abs=0.001)
    paces.arrived(cache, at + 0.006)
    assert paces.hold_until(at + 0.006, 0.015) is None


def test_a_device_that_answers_slowly_is_not_waited_for() -> None:
    paces, cache = Paces(), KVCache()
    at = decoding(paces, cache, 0.100, 30)
    assert paces.hold_until(at, patience=0.015) is None


def test_nobody_is_waited_for_longer_than_usual() -> None:
    paces, cache = Paces(), KVCache()
    at = decoding(paces, cache, 0.006, 30)
    assert paces.hold_until(at + 0.010, patience=0.015) is None


def test_a_session_that_sent_one_step_only_is_not_expected() -> None:
    paces, cache = Paces(), KVCache()
    paces.served(cache, 0.0)
    assert paces.hold_until(0.0, patience=0.015) is None
    assert not paces.decoding(0.0)


def test_the_slowest_of_the_fast_devices_decides() -> None:
    paces, fast, slower = Paces(), KVCache(), KVCache()
    at = decoding(paces, slower, 0.012, 30)
    at = decoding(paces, fast, 0.004, 30, at)
    paces.served(slower, at)
    until = paces.hold_until(at, patience=0.020)
    assert until == pytest.approx(at + 0.012, abs=0.002)


def test_a_jittery_device_is_given_up_when_its_worst_is_too_slow() -> None:
    paces, cache, at = Paces(), KVCache(), 0.0
    for turn in range(40):
        paces.served(cache, at)
        at += 0.002 if turn % 2 else 0.020
        paces.arrived(cache, at)
    paces.served(cache, at)
    assert paces.hold_until(at, patience=0.015) is None


def test_a_device_is_given_no_more_than_the_patience() -> None:
    paces, cache, at = Paces(), KVCache(), 0.0
    for turn in range(40):
        paces.served(cache, at)
        at += 0.008 if turn % 2 else 0.012
        paces.arrived(cache, at)
    paces.served(cache, at)
    assert paces.hold_until(at, patience=0.015) == pytest.approx(at + 0.015)


def test_decoding_is_remembered_for_a_second() -> None:
    paces, cache = Paces(), KVCache()
    at = decoding(paces, cache, 0.006, 5)
    assert paces.decoding(at + 0.9)
    assert not paces.decoding(at + 1.1)
    assert paces.mean == pytest.approx(0.006)


def test_sessions_that_are_gone_are_forgotten() -> None:
    paces = Paces()
    for _ in range(100):
        decoding(paces, KVCache(), 0.006, 2)
    gc.collect()
    assert len(paces._known) == 0
    assert paces.hold_until(1e9, 0.015) is None
    assert len(paces._awaited) == 0


def test_a_session_is_alone_where_no_other_was_served_lately() -> None:
    paces, one, other = Paces(), KVCache(), KVCache()
    assert not paces.beside(one, 0.0, within=0.5)
    paces.served(one, 1.0)
    assert not paces.beside(one, 1.1, within=0.5)
    assert paces.beside(other, 1.1, within=0.5)
    assert paces.beside(None, 1.1, within=0.5)
    paces.served(other, 1.2)
    paces.served(other, 1.3)
    assert paces.beside(one, 1.4, within=0.5)
    # The other one's last token was served at 1.0.
    assert paces.beside(other, 1.4, within=0.5)
    assert not paces.beside(other, 1.6, within=0.5)
