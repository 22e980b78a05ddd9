"""Redeeming codes: for a token, and not without limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_server.pairing.errors import PairingBusy, PairingRefused
from split_server.pairing.pairing import ATTEMPTS_PER_MINUTE, Pairing
from split_server.pairing.state import StateFolder


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_code_is_traded_for_a_token_of_its_own_principal(tmp_path: Path) -> None:
    clock = Clock()
    pairing = Pairing(StateFolder(tmp_path), None, clock)
    first = pairing.redeem(pairing.codes.make(clock()), "phone")
    second = pairing.redeem(pairing.codes.make(clock()), "tablet")
    assert pairing.principal(first.token) == f"device:{first.device.id}"
    assert pairing.principal(second.token) not in (None, pairing.principal(first.token))
    assert pairing.principal("unknown") is None


def test_attempts_are_limited_per_minute_whoever_makes_them(tmp_path: Path) -> None:
    clock = Clock()
    pairing = Pairing(StateFolder(tmp_path), None, clock)
    for _ in range(ATTEMPTS_PER_MINUTE):
        with pytest.raises(PairingRefused):
            pairing.redeem("AAAA-AAAA", "phone")
        clock.now += 1
    with pytest.raises(PairingBusy) as busy:
        pairing.redeem(pairing.codes.make(clock()), "phone")
    assert busy.value.retry_after == 60 - ATTEMPTS_PER_MINUTE
    clock.now += 60 - ATTEMPTS_PER_MINUTE
    assert pairing.redeem(pairing.codes.make(clock()), "phone").token
