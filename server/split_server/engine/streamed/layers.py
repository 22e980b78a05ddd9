"""Decoder layers whose matrices are in a slot while they compute, and on disk otherwise."""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from split_server.checkpoint.layers.file import LayerFile
from split_server.checkpoint.layers.layout import StoredLayer
from split_server.engine.streamed.bound import bound
from split_server.engine.streamed.errors import LayerUnreadable
from split_server.engine.streamed.packed_slots import PackedSlot
from split_server.engine.streamed.reader import LayerReader, ReadCounts
from split_server.engine.streamed.slots import SLOTS, Slot

# A disk that has not answered by then is taken for gone; as long as it stays so, less is waited.
_PATIENCE, _LITTLE_PATIENCE = 60.0, 1.0
# Of what a pass takes longer than those before it.
_FADING = 0.05
_log = logging.getLogger(__name__)


class Stream:
    """``numbers``: the layers of ``file`` that are read in each pass, in order.

    Takes layers on one thread at a time.
    """

    def __init__(
        self,
        file: LayerFile,
        numbers: Sequence[int],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.numbers = tuple(numbers)
        stored = file.index.layers
        largest = max(stored[number].size for number in self.numbers)
        self.slots = _slots([stored[number] for number in self.numbers], largest)
        self.slot_bytes = (SLOTS + isinstance(self.slots[0], PackedSlot)) * largest
        self.resident = len(stored) - len(self.numbers)
        self.pass_bytes = sum(stored[number].size for number in self.numbers)
        self.direct = file.direct
        self._stored = stored
        self._hangs = False
        self._clock, self._begun = clock, 0.0
        # Of the fastest of the last passes, from their first layer on disk to the end of the last.
        self._seconds: float | None = None
        self._reader = LayerReader(file, self.numbers, self.slots)
        self._reader.start()
        weakref.finalize(self, self._reader.close)

    @property
    def counts(self) -> ReadCounts:
        """What was read so far."""
        return self._reader.counts

    @property
    def passes_per_second(self) -> float:
        """What is to be expected of passes over few rows, 0 before the first one."""
        return 0.0 if self._seconds is None else 1 / max(self._seconds, 1e-9)

    def views(self, place: int) -> list[Mapping[str, torch.Tensor]]:
        """The tensors of the layer at ``place`` among :attr:`numbers`, for each slot."""
        return [slot.tensors(self._stored[self.numbers[place]]) for slot in self.slots]

    @contextmanager
    def held(self, place: int) -> Iterator[int]:
        """The slot that has the layer at ``place`` meanwhile. Raises LayerUnreadable."""
        if not place:
            self._begun = self._clock()
        turns = self._reader.turns
        number = self.numbers[place]
        try:
            taken = turns.take(place, _LITTLE_PATIENCE if self._hangs else _PATIENCE)
        except TimeoutError:
            self._hangs = True
            _log.error("layer %d: the disk does not answer", number)
            raise LayerUnreadable(number, "the disk does not answer") from None
        except RuntimeError as error:
            raise LayerUnreadable(number, str(error)) from error
        self._hangs = False
        try:
            yield taken % SLOTS
        finally:
            turns.release()
        if place == len(self.numbers) - 1:
            self._passed(self._clock() - self._begun)

    def _passed(self, seconds: float) -> None:
        """Fewer seconds count at once, more of them slowly: a pass may have had many rows."""
        before = seconds if self._seconds is None else self._seconds
        self._seconds = min(seconds, before + _FADING * (seconds - before))

    def close(self) -> None:
        """Read no more."""
        self._reader.close()


def _slots(layers: Sequence[StoredLayer], largest: int) -> Sequence[Slot | PackedSlot]:
    if any(tensor.dtype == "raw" for layer in layers for tensor in layer.tensors):
        beside = Slot(largest)
        return [PackedSlot(beside, layers) for _ in range(SLOTS)]
    return [Slot(largest) for _ in range(SLOTS)]


class StreamedLayer(torch.nn.Module):
    """``layer`` of Hugging Face's, which has the matrices at ``place`` of ``stream`` in a pass.

    Whoever looks for modules and parameters finds none: they are nobody's to move, pack or copy.
    """

    def __init__(self, layer: torch.nn.Module, stream: Stream, place: int) -> None:
        super().__init__()
        object.__setattr__(self, "_layer", layer)
        self._stream, self._place = stream, place
        self._bind = bound(layer, stream.views(place))

    def forward(self, *args: Any, **options: Any) -> Any:
        """As that of the layer. Raises LayerUnreadable."""
        with self._stream.held(self._place) as slot:
            self._bind(slot)
            return self._layer(*args, **options)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["_layer"], name)
