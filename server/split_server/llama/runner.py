"""Passes of the engine in llama.cpp: cut, append, hidden states after the final norm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import torch

from split_server.engine.model.convert import to_torch, to_wire
from split_server.engine.model.info import ModelInfo
from split_server.engine.model.packed import Slice
from split_server.engine.model.tap import AttentionTap
from split_server.llama.cell_map import CellMap, Placed
from split_server.llama.cells import CellCache, Cells
from split_server.llama.context import Context, Part, PassFailed
from split_server.llama.watch import AttentionAstray, Watch, Watched
from split_wire.attention import AttentionRequest
from split_wire.errors import HiddenOverflow, SplitError
from split_wire.tensor import Tensor

# The square of a larger value, summed over a row, could exceed float32, and what becomes of it lie
# in cells beside those of other sessions. No embedding comes near.
_LARGEST_INPUT = 1e6
_CPU = torch.device("cpu")


class LlamaRunner:
    """Runs on one thread at a time. ``scale``: of the rows on their way in, for families of which
    llama.cpp scales them itself; ``out_of_memory``: the error for positions that found no memory.
    """

    def __init__(
        self,
        context: Context,
        cells: Cells,
        watch: Watch,
        info: ModelInfo,
        out_of_memory: Callable[[int], SplitError],
        scale: float = 1.0,
    ) -> None:
        self._context, self._cells, self._watch = context, cells, watch
        self._info, self._scale = info, scale
        self._out_of_memory = out_of_memory
        self._map = CellMap(context.options.cells)
        # Whether the map may differ from what the library has.
        self._lost = False

    def warm_up(self) -> None:
        """Run small passes, of several rows and of one. Raises HiddenOverflow when the model's
        hidden states are beyond its dtype.
        """
        cache = self._cells.new()
        try:
            for start, count in ((0, 2), (2, 2), (4, 1)):
                rows = torch.zeros(count, self._info.hidden_size)
                [hidden] = self.run([Slice(cache, start, rows)])
                to_wire(hidden, self._info.dtype)
        finally:
            cache.release()

    def load(self, embeddings: Tensor) -> torch.Tensor:
        """Rows of the wire as float32 [n, H]. Raises HiddenOverflow where one is so large that the
        model could not compute with it.
        """
        rows = to_torch(embeddings, torch.float32, _CPU)
        if not bool((rows.abs() <= _LARGEST_INPUT).all()):
            raise HiddenOverflow
        return rows if self._scale == 1.0 else rows * self._scale

    def tap(self, request: AttentionRequest, length: int) -> AttentionTap:
        """Takes the attention of a last position over ``length`` ones, itself included."""
        return AttentionTap(request, self._info.num_layers, self._info.num_heads, length, _CPU)

    def run(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        """The final-norm hidden states of each slice's rows, float32 [n, H] each.

        The slices are of different sessions. When it fails, every cache holds its slice's ``start``
        positions.
        """
        for part in slices:
            part.cache.truncate(part.start)
        self._cells.settle(self._remove)
        parts = [self._part(part) for part in slices]
        states = self._computed(slices, parts)
        for part in slices:
            _own(part).grown_to(part.end)
        return list(torch.split(torch.from_numpy(states), [part.rows for part in slices]))

    def _part(self, part: Slice) -> Part:
        return Part(self._cells.begin(_own(part)), part.start, part.embeddings.numpy())

    def _computed(self, slices: Sequence[Slice], parts: Sequence[Part]) -> np.ndarray:
        self._context.check(parts)
        placed = self._place(parts)
        try:
            self._watch.arm(sum(len(part.rows) for part in parts), self._watched(slices, parts))
            states = self._context.run(parts)
        except PassFailed as failed:
            self._undo(parts, placed, begun=failed.begun)
            if failed.lacks_memory:
                raise self._out_of_memory(max(part.end for part in parts)) from None
            raise
        except BaseException:
            self._undo(parts, placed, begun=False)
            raise
        try:
            self._watch.disarm()
        except Exception:
            for part in parts:
                self._remove(part.sequence, part.start)
            raise
        return states

    def _watched(self, slices: Sequence[Slice], parts: Sequence[Part]) -> list[Watched]:
        """The last rows of slices with a tap."""
        found, end = [], 0
        for part, own in zip(slices, parts, strict=True):
            end += part.rows
            if part.tap is not None:
                if self._lost:
                    raise AttentionAstray("after a pass that failed, cells are not known any more")
                found.append(Watched(end - 1, self._map.of(own.sequence), part.tap))
        return found

    def _place(self, parts: Sequence[Part]) -> Placed:
        """Raises what is raised where there are not enough cells."""
        sizes = [len(part.rows) for part in parts]
        sequences = np.repeat(np.array([part.sequence for part in parts], np.int16), sizes)
        spans = [np.arange(part.start, part.end, dtype=np.int32) for part in parts]
        if self._lost and not self._map.used:
            self._context.clear()
            self._map, self._lost = CellMap(self._context.options.cells), False
        try:
            return self._map.place(sequences, np.concatenate(spans))
        except ValueError:
            raise self._out_of_memory(max(part.end for part in parts)) from None

    def _undo(self, parts: Sequence[Part], placed: Placed, *, begun: bool) -> None:
        """A pass failed: nobody has its rows."""
        self._watch.arm(0, ())
        if begun:
            self._lost = True
            for part in parts:
                self._map.remove(part.sequence, part.start)
        else:
            self._map.take_back(placed)

    def _remove(self, sequence: int, start: int) -> None:
        self._context.remove(sequence, start)
        self._map.remove(sequence, start)


def scale_of(family: str, width: int) -> float:
    """What rows are multiplied with before llama.cpp gets them: of gemma2 it multiplies rows of any
    origin with the root of their width, which devices have done.
    """
    return 1 / math.sqrt(width) if family == "gemma2" else 1.0


def _own(part: Slice) -> CellCache:
    return cast("CellCache", part.cache)
