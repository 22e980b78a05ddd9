"""Workers that a principal costs: a few at once, then one for each while that passes."""

from __future__ import annotations

import pytest

from split_server.adapter_host.errors import WorkersSpent
from split_server.adapter_host.strikes import Strikes


class _Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_principal_at_its_limit_waits_until_a_whole_strike_is_forgiven() -> None:
    clock = _Clock()
    strikes = Strikes(3, 60.0, clock)
    for _ in range(3):
        strikes.admit("ada")
        strikes.add("ada")
    with pytest.raises(WorkersSpent) as spent:
        strikes.admit("ada")
    assert spent.value.retry_after == 60.0
    strikes.admit("babbage")
    clock.now += 60.0
    strikes.admit("ada")
    strikes.add("ada")
    with pytest.raises(WorkersSpent):
        strikes.admit("ada")


def test_strikes_far_apart_never_add_up() -> None:
    clock = _Clock()
    strikes = Strikes(2, 60.0, clock)
    for _ in range(100):
        strikes.admit("ada")
        strikes.add("ada")
        clock.now += 60.0
    strikes.admit("ada")


def test_the_forgiven_are_forgotten_and_the_fewest_strikes_make_room() -> None:
    clock = _Clock()
    strikes = Strikes(2, 60.0, clock, principals=2)
    for name in ("ada", "ada", "babbage", "cantor"):
        strikes.add(name)
    assert len(strikes) == 2
    with pytest.raises(WorkersSpent):
        strikes.admit("ada")
    clock.now += 1000.0
    strikes.add("dedekind")
    assert len(strikes) == 1
