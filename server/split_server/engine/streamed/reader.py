"""The thread that reads layers into slots, ahead of whoever computes with them."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from split_server.checkpoint.layers.errors import LayerFileDamaged
from split_server.checkpoint.layers.file import LayerFile
from split_server.engine.streamed.packed_slots import PackedSlot
from split_server.engine.streamed.slots import Slot
from split_server.engine.streamed.turns import Turns

# A layer is compared with its digest when it is read first, and once in so many times.
_CHECKED_EVERY = 100
# A write shows in the time of the file when it begins, and is over by then: meanwhile every read is
# compared, as one that came before it got there says nothing of the next.
_WRITE_SECONDS = 60.0
_GAIN = 0.1
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class ReadCounts:
    """``layers`` that were read, ``checked`` of them against their digests; ``bytes_per_second`` of
    the reads alone, 0 while there was none.
    """

    layers: int = 0
    checked: int = 0
    bytes_per_second: float = 0.0


class LayerReader:
    """Fills ``slots`` with ``layers`` of ``file``, in turn, until its turns are closed.

    ``clock`` in seconds.
    """

    def __init__(
        self,
        file: LayerFile,
        layers: Sequence[int],
        slots: Sequence[Slot | PackedSlot],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.turns = Turns(len(layers), len(slots))
        self.counts = ReadCounts()
        self._file, self._layers, self._slots = file, layers, slots
        self._clock = clock
        self._reads: Counter[int] = Counter()
        self._stamp = file.stamp()
        self._written_until: float | None = None
        self._thread = threading.Thread(target=self._work, name="layers", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self, seconds: float = 5.0) -> None:
        """End the thread; a read that hangs is left to itself after ``seconds``."""
        self.turns.close()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _work(self) -> None:
        while (number := self.turns.to_fill()) is not None:
            layer = self._layers[number % len(self._layers)]
            slot = self._slots[number % len(self._slots)]
            try:
                self._fill(layer, slot.buffer)
                slot.settle(self._file.index.layers[layer])
            # Whatever it is, whoever waits for the layer is told.
            except Exception as error:  # noqa: BLE001
                _log.error("layer %d of %s: %s", layer, self._file.path, error)
                self.turns.failed(number, _reason(error))
            else:
                self.turns.filled(number)
        self._file.close()

    def _fill(self, layer: int, buffer: memoryview) -> None:
        self._read(layer, buffer)
        # Afterwards: who wrote before it was read has changed the stamp by now.
        check = self._due(layer)
        if check and not self._file.sound(layer, buffer):
            # What went wrong on the way comes right the second time.
            self._read(layer, buffer)
            if not self._file.sound(layer, buffer):
                # The next start makes another one.
                self._file.remove()
                raise LayerFileDamaged("its bytes are not those that were written")
        self._reads[layer] += 1
        self.counts.layers += 1
        self.counts.checked += check

    def _due(self, layer: int) -> bool:
        """Whether this read is checked: all while somebody may write to the file, the first one
        after that, and some.
        """
        if self._is_written():
            return True
        reads = self._reads[layer]
        # Not all layers in the same pass.
        return not reads or (reads + layer) % _CHECKED_EVERY == 0

    def _is_written(self) -> bool:
        stamp, now = self._file.stamp(), self._clock()
        if stamp != self._stamp:
            self._stamp, self._written_until = stamp, now + _WRITE_SECONDS
        if self._written_until is not None and now >= self._written_until:
            self._written_until = None
            self._reads.clear()
        return self._written_until is not None

    def _read(self, layer: int, buffer: memoryview) -> None:
        begun = self._clock()
        self._file.read(layer, buffer)
        seconds = self._clock() - begun
        if seconds > 0:
            speed, before = self._file.index.layers[layer].size / seconds, self.counts
            usual = before.bytes_per_second or speed
            before.bytes_per_second = usual + _GAIN * (speed - usual)


def _reason(error: Exception) -> str:
    if isinstance(error, LayerFileDamaged):
        return str(error)
    return getattr(error, "strerror", None) or type(error).__name__
