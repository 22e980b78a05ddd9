"""The benchmark of replicas: which waits count, and what counts as wrong."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from scripts.bench.fleet.faults.devices import Device, Said, longest_gap
from scripts.bench.fleet.faults.parts import Parts, Watch
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


def _gap(device: Device, since: float, until: float) -> float:
    found = longest_gap(device, since, until)
    assert found is not None
    return found.gap


def test_the_wait_of_an_event_is_that_of_a_reply_which_it_hit() -> None:
    device = _device(Said(0, times=[1.0, 1.1, 1.2]), Said(0, times=[5.0, 5.1, 6.0, 6.1, 9.0]))
    # Between 1.2 and 5.0 no reply was being made.
    assert longest_gap(device, 2.0, 4.0) is None
    assert _gap(device, 5.2, 5.5) == pytest.approx(6.0 - 5.1)
    # A pause that began after the event has another cause.
    assert _gap(device, 5.05, 5.5) == pytest.approx(6.0 - 5.1)
    assert longest_gap(_device(), 0.0, 9.0) is None


def test_the_wait_for_the_first_token_counts_from_when_the_reply_was_asked_for() -> None:
    # Hit in the prefill, with the reply before just over.
    device = _device(Said(0, times=[1.0, 1.1]), Said(0, times=[62.0, 62.1], begun=1.2))
    assert _gap(device, 1.05, 1.5) == pytest.approx(62.0 - 1.2)


def test_a_token_that_is_another_missing_or_too_many_is_wrong() -> None:
    verdict, device = Verdict(), _device()
    for ids in ([1, 2, 3], [1, 2], [1, 2, 3, 4], [1, 9, 3], []):
        _compare(verdict, device, ids, [1, 2, 3])
    assert verdict.replies == 5
    assert len(verdict.wrong) == 4


def test_the_parts_of_a_gap_are_told_apart_and_sum_up_to_it() -> None:
    watch = Watch(
        pauses=[(0.0, 0.5), (1.2, 1.3), (1.45, 1.6)],
        connects=[(1.3, 1.32)],
        opened=[0.9, 1.7, 2.5],
    )
    parts = watch.parts(1.0, 2.0)
    wanted = Parts(notice=0.2, wait=0.25, connect=0.02, open=0.23, replay=0.3)
    assert parts.each() == pytest.approx(wanted.each())
    assert parts.gap == pytest.approx(1.0)


def test_a_gap_without_a_loss_is_one_long_step() -> None:
    assert Watch(opened=[0.5]).parts(1.0, 2.0) == Parts(replay=1.0)


def test_where_no_connection_was_lost_a_new_session_is_told_all_the_same() -> None:
    # Over HTTP the balancer may ask the next replica without a word.
    assert Watch(opened=[1.5]).parts(1.0, 2.0).each() == pytest.approx([0, 0, 0, 0.5, 0.5])
