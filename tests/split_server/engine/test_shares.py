"""Rows served by principal, and who comes first for them."""

from __future__ import annotations

from split_server.engine.shares import Shares


def shares_of(**served: int) -> Shares:
    shares = Shares()
    for principal, rows in served.items():
        shares.arrived(principal)
        shares.serve(principal, rows)
    return shares


def test_the_least_served_principal_comes_first() -> None:
    assert shares_of(ann=30, bob=10, eve=20).ordered(["ann", "bob", "eve"]) == ["bob", "eve", "ann"]


def test_a_pause_does_not_wipe_out_what_was_served() -> None:
    shares = shares_of(ann=30, bob=10)
    shares.left("ann")
    shares.advance()
    shares.arrived("ann")
    assert shares.ordered(["ann", "bob"]) == ["bob", "ann"]


def test_idleness_earns_no_credit() -> None:
    shares = shares_of(ann=100)
    shares.advance()
    shares.arrived("bob")
    shares.serve("bob", 1)
    assert shares.ordered(["bob", "ann"]) == ["ann", "bob"]


def test_who_does_not_wait_and_is_owed_nothing_is_forgotten() -> None:
    shares = shares_of(**{f"user {number}": 1 for number in range(100)}, ann=2)
    for number in range(100):
        shares.left(f"user {number}")
    shares.advance()
    assert len(shares) == 1
    shares.left("ann")
    shares.advance()
    assert len(shares) == 0
