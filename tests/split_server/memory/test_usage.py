"""The memory that the process holds and held at the most, against blocks of known size."""

from __future__ import annotations

import mmap
import sys

import pytest

from split_server.memory.usage import PeakMeter, process_usage

_BLOCK = 64 << 20
_NOISE = 4 << 20
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads proc(5)")


def _touched() -> mmap.mmap:
    block = mmap.mmap(-1, _BLOCK, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for page in range(0, _BLOCK, mmap.PAGESIZE):
        block[page] = 1
    return block


def test_memory_that_is_written_to_is_private_and_mapped() -> None:
    before = process_usage()
    with _touched():
        after = process_usage()
    assert after.private - before.private == pytest.approx(_BLOCK, abs=_NOISE)
    assert after.data - before.data == pytest.approx(_BLOCK, abs=_NOISE)


def test_memory_that_is_only_mapped_is_not_private_yet() -> None:
    before = process_usage()
    with mmap.mmap(-1, _BLOCK, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS):
        after = process_usage()
    assert after.private - before.private < _NOISE
    assert after.data - before.data == pytest.approx(_BLOCK, abs=_NOISE)


def test_the_peak_shows_memory_that_is_gone_again_and_no_older_one() -> None:
    meter = PeakMeter()
    meter.mark()
    _touched().close()
    assert meter.risen() == pytest.approx(_BLOCK, abs=_NOISE)
    meter.mark()
    assert meter.risen() < _NOISE
