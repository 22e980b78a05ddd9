"""Where the caches of a pass lie, gathered on the host and copied to the device at once."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import torch

from split_server.engine.gpu.decode_kernel import PIECE, Places
from split_server.kv.cache import KVCache

# Of a session: how many rows its buffers hold, and the position of its new one.
_FIRST = 2
# Of a layer: the addresses of keys and values, and their capacity.
_FIELDS = 3


def pieces_of(length: int) -> int:
    """Pieces for caches of up to ``length`` positions: 4, 16, 64, ... because a captured pass has
    a fixed number, and there must not be many of them.
    """
    pieces = 4
    while pieces * PIECE < length:
        pieces *= 4
    return pieces


class AddressBook:
    """Of sessions with ``layers`` layers, up to ``most`` in a pass. Used by one thread."""

    def __init__(self, layers: int, most: int, device: torch.device) -> None:
        self._layers = layers
        shape = (most, _FIRST + _FIELDS * layers)
        self._host = torch.empty(shape, dtype=torch.int64, pin_memory=True)
        self._rows = self._host.numpy()
        self._device = torch.full(shape, -1, dtype=torch.int64, device=device)
        self._device[:, 1] = 0
        self._copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._known: WeakKeyDictionary[KVCache, tuple[int, npt.NDArray[np.int64]]]
        self._known = WeakKeyDictionary()

    def places(self, most: int, pieces: int) -> Places:
        """Of the first ``most`` sessions; each :meth:`fill` changes what stands there."""
        rows = self._device[:most]
        return Places(rows[:, _FIRST:].view(most, self._layers, _FIELDS), rows[:, 0], pieces)

    def positions(self, most: int) -> torch.Tensor:
        """Those of the new rows of the first ``most`` sessions, int64 [most]."""
        return self._device[:most, 1]

    def fill(self, caches: Sequence[KVCache], starts: Sequence[int], most: int) -> None:
        """Have ``caches``, whose new rows are at positions ``starts``, stand first, and no session
        behind them up to ``most``.
        """
        # The copy for the pass before may still read what is written here.
        self._copied.synchronize()
        rows = self._rows
        for index, (cache, start) in enumerate(zip(caches, starts, strict=True)):
            # Of what is hidden nothing lies in the buffers.
            rows[index, :_FIRST] = cache.own(start), start
            rows[index, _FIRST:] = self._buffers(cache)
        rows[len(caches) : most, :_FIRST] = -1, 0
        self._device[:most].copy_(self._host[:most], non_blocking=True)
        self._copied.record()

    def _buffers(self, cache: KVCache) -> npt.NDArray[np.int64]:
        known = self._known.get(cache)
        if known is not None and known[0] == cache.exchanges:
            return known[1]
        fields = [
            field
            for layer in cache.layers
            for field in (*(buffer.data_ptr() for buffer in layer.buffers or ()), layer.capacity)
        ]
        row = np.array(fields, dtype=np.int64)
        self._known[cache] = (cache.exchanges, row)
        return row
