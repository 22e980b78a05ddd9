"""How often a principal may have models loaded."""

from __future__ import annotations

from split_server.serving.models.allowance import Allowance


def test_loads_are_counted_for_a_minute_and_for_each_principal() -> None:
    now = [0.0]
    allowance = Allowance(lambda: now[0])
    allowance.count("ann")
    assert allowance.wait("ann") == 0.0
    now[0] = 10.0
    allowance.count("ann")
    assert allowance.wait("ann") == 50.0
    assert allowance.wait("bob") == 0.0
    now[0] = 60.0
    assert allowance.wait("ann") == 0.0
    allowance.count("ann")
    assert allowance.wait("ann") == 10.0


def test_nobody_is_remembered_whose_loads_are_long_ago() -> None:
    now = [0.0]
    allowance = Allowance(lambda: now[0])
    for number in range(100):
        allowance.count(f"principal {number}")
    now[0] = 60.0
    allowance.wait("ann")
    assert not allowance._begun
