"""Redeeming codes: for a token, and not without limit."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from split_server.pairing import attempts
from split_server.pairing.attempts import ATTEMPTS_PER_MINUTE
from split_server.pairing.errors import PairingBusy, PairingRefused, StateUnusable
from split_server.pairing.pairing import Pairing
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


def _refused(pairing: Pairing, times: int, address: str) -> None:
    for _ in range(times):
        with pytest.raises(PairingRefused):
            pairing.redeem("AAAA-AAAA", "phone", address)


def test_wrong_attempts_of_one_address_are_limited_per_minute(tmp_path: Path) -> None:
    clock = Clock()
    pairing = Pairing(StateFolder(tmp_path), None, clock)
    for _ in range(ATTEMPTS_PER_MINUTE):
        _refused(pairing, 1, "10.0.0.1")
        clock.now += 1
    with pytest.raises(PairingBusy) as busy:
        pairing.redeem(pairing.codes.make(clock()), "phone", "10.0.0.1")
    assert busy.value.retry_after == 60 - ATTEMPTS_PER_MINUTE
    clock.now += 60 - ATTEMPTS_PER_MINUTE
    assert pairing.redeem(pairing.codes.make(clock()), "phone", "10.0.0.1").token


def test_somebody_elses_wrong_attempts_keep_no_device_from_pairing(tmp_path: Path) -> None:
    clock = Clock()
    pairing = Pairing(StateFolder(tmp_path), None, clock)
    code = pairing.codes.make(clock())
    _refused(pairing, ATTEMPTS_PER_MINUTE, "10.0.0.66")
    _refused(pairing, ATTEMPTS_PER_MINUTE, "2001:db8::66")
    assert pairing.redeem(code, "phone", "10.0.0.1").token


def test_attempts_that_succeed_do_not_count(tmp_path: Path) -> None:
    clock = Clock()
    pairing = Pairing(StateFolder(tmp_path), None, clock)
    for _ in range(2 * ATTEMPTS_PER_MINUTE):
        assert pairing.redeem(pairing.codes.make(clock()), "phone", "10.0.0.1").token
    _refused(pairing, ATTEMPTS_PER_MINUTE, "10.0.0.1")


def test_addresses_of_one_network_count_together(tmp_path: Path) -> None:
    pairing = Pairing(StateFolder(tmp_path), None, Clock())
    for number in range(ATTEMPTS_PER_MINUTE):
        _refused(pairing, 1, f"2001:db8::{number:x}")
    with pytest.raises(PairingBusy):
        pairing.redeem("AAAA-AAAA", "phone", "2001:db8::ffff")


def test_a_balancer_speaks_for_many(tmp_path: Path) -> None:
    pairing = Pairing(StateFolder(tmp_path), None, Clock(), balancers=["127.0.0.1"])
    _refused(pairing, 3 * ATTEMPTS_PER_MINUTE, "127.0.0.1")


def test_addresses_that_are_remembered_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "MAX_ADDRESSES", 3)
    pairing = Pairing(StateFolder(tmp_path), None, Clock())
    for number in range(10):
        _refused(pairing, 1, f"10.0.0.{number}")
    assert len(pairing._attempts) == 3


def test_attempts_count_at_all_servers_of_one_state_folder(tmp_path: Path) -> None:
    clock = Clock()
    one, other = (Pairing(StateFolder(tmp_path), None, clock) for _ in range(2))
    for number in range(ATTEMPTS_PER_MINUTE):
        _refused((one, other)[number % 2], 1, "10.0.0.1")
    for pairing in (one, other):
        with pytest.raises(PairingBusy):
            pairing.redeem("AAAA-AAAA", "phone", "10.0.0.1")
    assert other.redeem(one.codes.make(clock()), "phone", "10.0.0.2").token


def test_an_address_that_tried_is_in_no_file(tmp_path: Path) -> None:
    pairing = Pairing(StateFolder(tmp_path), None, Clock())
    _refused(pairing, 1, "10.0.0.1")
    assert not [path for path in tmp_path.iterdir() if b"10.0.0.1" in path.read_bytes()]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"version": 1, "key": "00", "failed": {}}', b'{"failed": 3}']
)
def test_damaged_attempts_keep_no_device_from_pairing(tmp_path: Path, content: bytes) -> None:
    clock = Clock()
    pairing = Pairing(StateFolder(tmp_path), None, clock)
    (tmp_path / attempts.FILE).write_bytes(content)
    assert pairing.redeem(pairing.codes.make(clock()), "phone", "10.0.0.1").token


def test_attempts_of_a_clock_that_is_ahead_do_not_count_for_ever(tmp_path: Path) -> None:
    clock, ahead = Clock(), Clock()
    ahead.now += 600
    _refused(Pairing(StateFolder(tmp_path), None, ahead), ATTEMPTS_PER_MINUTE, "10.0.0.1")
    _refused(Pairing(StateFolder(tmp_path), None, clock), 1, "10.0.0.1")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_where_attempts_cannot_be_counted_no_code_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    clock = Clock()
    pairing = Pairing(StateFolder(tmp_path), None, clock)
    code = pairing.codes.make(clock())

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr("split_server.pairing.state.write_whole", refuse)
        with pytest.raises(StateUnusable):
            pairing.redeem(code, "phone", "10.0.0.1")
    assert pairing.redeem(code, "phone", "10.0.0.1").token


def test_a_disk_that_is_gone_is_not_written_to_in_its_place(tmp_path: Path) -> None:
    clock, state = Clock(), tmp_path / "state"
    pairing = Pairing(StateFolder(state), None, clock)
    code = pairing.codes.make(clock())
    state.rename(tmp_path / "away")
    with pytest.raises(StateUnusable, match="is its disk mounted"):
        pairing.redeem(code, "phone", "10.0.0.1")
    assert not state.exists()
