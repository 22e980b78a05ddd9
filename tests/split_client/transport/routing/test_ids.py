"""Routing ids are drawn evenly, each for itself."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter

import pytest

from split_client.transport.routing.ids import is_id, new_id
from split_client.transport.routing.route import Route

_DEVICES, _REPLICAS = 1000, 4


def _replica(id: str) -> int:
    """Where a balancer brings it that hashes what it is told."""
    return int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "big") % _REPLICAS


def _within(counts: Counter[int], cells: int) -> bool:
    """Whether chi-squared stays below its 1 - 10^-9 quantile (Wilson and Hilferty)."""
    free = cells - 1
    even = sum(counts.values()) / cells
    found = sum((counts[cell] - even) ** 2 / even for cell in range(cells))
    spread = 2 / (9 * free)
    return found < free * (1 - spread + 6.0 * spread**0.5) ** 3


def test_an_id_is_16_bytes_in_base64url() -> None:
    made = new_id()
    assert is_id(made)
    assert len(base64.urlsafe_b64decode(made + "==")) == 16


def test_no_two_ids_are_alike_and_every_bit_of_them_is_as_often_set_as_not() -> None:
    made = [base64.urlsafe_b64decode(new_id() + "==") for _ in range(20_000)]
    assert len({*made}) == len(made)
    assert _within(Counter(byte for id in made for byte in id), 256)
    for bit in range(128):
        ones = sum(id[bit // 8] >> bit % 8 & 1 for id in made)
        assert abs(ones - 10_000) < 500, bit


def test_devices_are_spread_evenly_over_replicas() -> None:
    counts = Counter(_replica(new_id()) for _ in range(20 * _DEVICES))
    assert _within(counts, _REPLICAS)
    assert max(counts.values()) <= 1.25 * min(counts.values())


def test_where_a_device_goes_next_does_not_depend_on_where_it_was() -> None:
    moves: Counter[int] = Counter()
    for _ in range(20_000):
        route = Route()
        before = _replica(route.id)
        route.change()
        moves[before * _REPLICAS + _replica(route.id)] += 1
    assert _within(moves, _REPLICAS**2)


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        "",
        "A" * 21,
        "A" * 23,
        "A" * 21 + "B",
        "A" * 21 + "=",
        "A" * 21 + "é",
        "A" * 22 + "\n",
    ],
)
def test_what_is_no_id_goes_into_no_url(text: object) -> None:
    assert not is_id(text)
