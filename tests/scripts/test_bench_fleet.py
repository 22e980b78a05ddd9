"""The benchmark of replicas: which waits count, and what counts as wrong."""

from __future__ import annotations

import threading
from pathlib import Path

from scripts.bench.fleet.faults.devices import Device, Said, longest_gap
from scripts.bench.fleet.faults.verdict import Verdict, _compare


def _device(*said: Said) -> Device:
    device = Device(
        0,
        "http://127.0.0.1:1",
        Path("nowhere"),
        ["a prompt"],
        carrier="auto",
        noised=False,
        wanted=threading.Event(),
    )
    device.said = list(said)
    return device


def test_the_wait_of_an_event_is_that_of_a_reply_which_it_hit() -> None:
    device = _device(Said(0, times=[1.0, 1.1, 1.2]), Said(0, times=[5.0, 5.1, 6.0, 6.1, 9.0]))
    # Between 1.2 and 5.0 no reply was being made.
    assert longest_gap(device, 2.0, 4.0) is None
    assert longest_gap(device, 5.2, 5.5) == 6.0 - 5.1
    # A pause that began after the event has another cause.
    assert longest_gap(device, 5.05, 5.5) == 6.0 - 5.1
    assert longest_gap(_device(), 0.0, 9.0) is None


def test_a_token_that_is_another_missing_or_too_many_is_wrong() -> None:
    verdict, device = Verdict(), _device()
    for ids in ([1, 2, 3], [1, 2], [1, 2, 3, 4], [1, 9, 3], []):
        _compare(verdict, device, ids, [1, 2, 3])
    assert verdict.replies == 5
    assert len(verdict.wrong) == 4
