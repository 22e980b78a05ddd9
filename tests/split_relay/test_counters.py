from __future__ import annotations

import pytest

from split_relay.counters import Counters, readable_bytes


def test_a_snapshot_does_not_change_afterwards() -> None:
    counters = Counters()
    before = counters.snapshot()
    counters.bytes_up += 5
    assert before.bytes_up == 0
    assert counters.snapshot().bytes_up == 5


def test_a_snapshot_reads_as_one_line() -> None:
    text = str(Counters(connections=3, active=1, bytes_up=1500).snapshot())
    assert text == (
        "3 connections, 1 active, 1.5 kB up, 0 B down, 0 refused, 0 upstream failures, "
        "0 closed idle"
    )


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (12_345_678, "12.3 MB"),
        (10**9, "1.0 GB"),
        (5 * 10**15, "5000.0 TB"),
    ],
)
def test_sizes_are_readable(count: int, text: str) -> None:
    assert readable_bytes(count) == text
