"""The thread that reads layers: what it compares with their digests, and the faults it tells."""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from split_server.checkpoint.layers.file import LayerFile
from split_server.engine.streamed.reader import LayerReader
from split_server.engine.streamed.slots import Slot
from tests.layer_files import LAYERS, index_of, opened, values_of

_SECONDS = 20.0
_INDEX = index_of()


class _Reading:
    """A reader of all layers of ``file``, which is told of what it reads."""

    def __init__(self, file: LayerFile, clock: Callable[[], float] = time.perf_counter) -> None:
        slots = [Slot(file.index.largest) for _ in range(3)]
        self.buffers = [slot.buffer for slot in slots]
        self.reader = LayerReader(file, range(LAYERS), slots, clock)

    def take(self, layer: int) -> bytes:
        """The layer, once it is there. Raises what the turns raise."""
        turns = self.reader.turns
        number = turns.take(layer, _SECONDS)
        try:
            return bytes(self.buffers[number % 3])
        finally:
            turns.release()

    def pass_through(self) -> None:
        """Every layer must be as it was written."""
        for layer in range(LAYERS):
            assert self.take(layer) == values_of(_INDEX, layer)

    def seen_until_refused(self, most: int) -> list[bool]:
        """Of ``most`` layers, those before the first that is refused: whether each was right."""
        seen = []
        for at in range(most):
            try:
                seen.append(self.take(at % LAYERS) == values_of(_INDEX, at % LAYERS))
            except RuntimeError:
                break
        return seen


@contextmanager
def _reading(file: LayerFile, clock: Callable[[], float] = time.perf_counter) -> Iterator[_Reading]:
    reading = _Reading(file, clock)
    reading.reader.start()
    try:
        yield reading
    finally:
        reading.reader.close()


def _damage(file: LayerFile, layer: int) -> None:
    with file.path.open("r+b") as raw:
        raw.seek(file.index.offsets()[layer] + 1000)
        raw.write(b"damaged")


def test_every_layer_is_checked_when_it_is_read_first_and_seldom_later(tmp_path: Path) -> None:
    with _reading(opened(tmp_path)) as reading:
        for _ in range(250):
            reading.pass_through()
        counts = reading.reader.counts
        assert 250 * LAYERS <= counts.layers <= 250 * LAYERS + 3
        # The first time, and after a hundred and two hundred.
        assert counts.checked in range(3 * LAYERS - 3, 3 * LAYERS + 4)
        assert counts.bytes_per_second > 0


def test_a_damaged_layer_is_never_given_and_its_file_goes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = opened(tmp_path)
    _damage(file, 2)
    with caplog.at_level(logging.ERROR), _reading(file) as reading:
        assert reading.take(0) == values_of(_INDEX, 0)
        assert reading.take(1) == values_of(_INDEX, 1)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="not those that were written"):
                reading.take(2)
        assert not file.path.exists()
    assert str(file.path) in caplog.text


def test_what_is_written_to_the_file_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    file = opened(tmp_path)
    with _reading(file) as reading:
        for _ in range(4):
            reading.pass_through()
        for layer in range(LAYERS):
            _damage(file, layer)
        seen = reading.seen_until_refused(2 * LAYERS)
        # What was read before is still there, and right.
        assert len(seen) <= 3
        assert all(seen)


class _WrittenSlowly(LayerFile):
    """Its time is that at which a write begins, however long that takes."""

    begun = 0

    def stamp(self) -> tuple[int, int]:
        return 0, self.begun


@pytest.mark.parametrize("idle", [0.0, 3600.0])
def test_a_write_that_goes_on_after_it_was_noticed_is_noticed_as_well(
    tmp_path: Path, idle: float
) -> None:
    whole, now = opened(tmp_path), [0.0]
    file = _WrittenSlowly(whole.path, os.open(whole.path, os.O_RDONLY), whole.index, direct=False)
    with _reading(file, lambda: now[0]) as reading:
        reading.pass_through()
        file.begun = 1
        for _ in range(3):
            reading.pass_through()
        for layer in range(LAYERS):
            _damage(file, layer)
        now[0] += idle
        seen = reading.seen_until_refused(2 * LAYERS)
        # What was read before is still there, and right.
        assert len(seen) <= 3
        assert all(seen)


def test_long_after_a_file_was_touched_its_layers_are_checked_seldom_again(tmp_path: Path) -> None:
    file, now = opened(tmp_path), [0.0]
    with _reading(file, lambda: now[0]) as reading:
        reading.pass_through()
        os.utime(file.path)
        for _ in range(10):
            reading.pass_through()
        counts = reading.reader.counts
        assert counts.checked >= 10 * LAYERS
        now[0] += 3600.0
        for _ in range(2):
            reading.pass_through()
        checked = counts.checked
        for _ in range(10):
            reading.pass_through()
        assert counts.checked - checked <= LAYERS


def test_a_file_that_is_only_touched_goes_on(tmp_path: Path) -> None:
    file = opened(tmp_path)
    with _reading(file) as reading:
        reading.pass_through()
        os.utime(file.path)
        reading.pass_through()
        reading.pass_through()
        assert reading.reader.counts.checked >= 2 * LAYERS - 3


class _Unplugged(LayerFile):
    """A file of a disk that can be pulled out."""

    gone = False

    def read(self, layer: int, buffer: memoryview) -> None:
        if self.gone:
            raise OSError(errno.EIO, "Input/output error")
        super().read(layer, buffer)


def test_a_disk_that_comes_back_is_read_again(tmp_path: Path) -> None:
    whole = opened(tmp_path)
    file = _Unplugged(whole.path, os.open(whole.path, os.O_RDONLY), whole.index, direct=False)
    with _reading(file) as reading:
        reading.pass_through()
        file.gone = True
        with pytest.raises(RuntimeError, match="Input/output error"):
            reading.pass_through()
        with pytest.raises(RuntimeError, match="Input/output error"):
            reading.pass_through()
        file.gone = False
        reading.pass_through()


class _BadCable(LayerFile):
    """Every read of a layer is wrong the first time."""

    def read(self, layer: int, buffer: memoryview) -> None:
        super().read(layer, buffer)
        self._done = {*getattr(self, "_done", ())}
        if layer not in self._done:
            buffer[17] ^= 1
            self._done.add(layer)


def test_what_is_wrong_once_is_read_again(tmp_path: Path) -> None:
    whole = opened(tmp_path)
    file = _BadCable(whole.path, os.open(whole.path, os.O_RDONLY), whole.index, direct=False)
    with _reading(file) as reading:
        reading.pass_through()
    assert whole.path.exists()


def test_a_reader_that_is_closed_ends_its_thread(tmp_path: Path) -> None:
    with _reading(opened(tmp_path)) as reading:
        reading.take(0)
    assert not reading.reader._thread.is_alive()
