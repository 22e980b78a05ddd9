"""Attention rows of a pass, taken from the library while it computes.

The scheduler of ggml asks its eval callback about every node of the graph. The softmax of layer i
is called ``kq_soft_max-i``: float32 [heads, rows, cells], the cells of all sequences side by side.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from split_server.engine.model.tap import AttentionTap
from split_server.llama.library import Library

_NODE = b"kq_soft_max-"
_ITEM = 4
# Of the sum of a row of float32 weights; another sequence's cells have 0.
_TOLERANCE = 1e-3


class AttentionAstray(RuntimeError):
    """What a node holds is not the attention of the cells that it should be of."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The pass's row ``row``, of which ``tap`` wants the weights over ``cells``, in the order of
    positions.
    """

    row: int
    cells: npt.NDArray[np.intp]
    tap: AttentionTap


class Watch:
    """``heads``: query heads of one layer. On the model's thread alone; nothing is raised while
    the library calls, which could not go on.
    """

    def __init__(self, library: Library, heads: int) -> None:
        self._raw, self._heads = library.raw, heads
        self._rows = 0
        self._watched: Sequence[Watched] = ()
        self._failure: Exception | None = None
        # Must live as long as the context.
        self.callback: Any = library.functions.ggml_backend_sched_eval_callback(self._asked)

    def arm(self, rows: int, watched: Sequence[Watched]) -> None:
        """The next pass has ``rows`` rows."""
        self._rows, self._watched, self._failure = rows, watched, None

    def disarm(self) -> None:
        """The pass is over. Raises what went wrong while it was watched."""
        self._watched = ()
        if self._failure is not None:
            raise self._failure

    def _asked(self, tensor: int, ask: bool, _: Any) -> bool:
        """Whether a node is wanted, or (not ``ask``) it is computed: whether to go on."""
        if not self._watched:
            return not ask
        name: bytes = self._raw.ggml_get_name(tensor)
        wanted = name.startswith(_NODE)
        if ask or not wanted:
            return wanted or not ask
        try:
            self._take(int(name[len(_NODE) :]), tensor)
        # It is told when the pass is over.
        except Exception as error:  # noqa: BLE001
            self._failure = error
        return True

    def _take(self, layer: int, tensor: int) -> None:
        across = self._heads * self._rows
        cells, rest = divmod(int(self._raw.ggml_nelements(tensor)), across)
        if rest:
            raise AttentionAstray("the softmax has another shape")
        for one in (each for each in self._watched if each.tap.wants(layer)):
            weights = self._row(tensor, one.row, cells)
            if one.cells.max(initial=0) >= cells:
                raise AttentionAstray("a cell lies behind the softmax")
            own = weights[:, one.cells]
            if not np.allclose(own.sum(axis=1), 1.0, atol=_TOLERANCE):
                raise AttentionAstray("the weights of a sequence do not add up to 1")
            one.tap.take(layer, torch.from_numpy(own))

    def _row(self, tensor: int, row: int, cells: int) -> npt.NDArray[np.float32]:
        """[heads, cells] of one row."""
        found = np.empty((self._heads, cells), np.float32)
        size = _ITEM * cells
        for head in range(self._heads):
            offset = (head * self._rows + row) * size
            address = ctypes.c_void_p(found[head].ctypes.data)
            self._raw.ggml_backend_tensor_get(tensor, address, offset, size)
        return found
