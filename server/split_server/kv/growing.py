"""One layer of a KV cache that writes new rows into a buffer with room, instead of copying all."""

from __future__ import annotations

from typing import Any, NoReturn

import torch
from transformers.cache_utils import DynamicLayer

from split_server.kv.buffers import BufferPool
from split_server.kv.capacity import capacity_for

# Buffers of which less than one part in so many is used are exchanged for smaller ones.
_SHRINK = 4


class GrowingLayer(DynamicLayer):  # type: ignore[misc]
    """Keys and values [batch, kv_heads, positions, head_dim] at the front of two larger buffers.

    ``keys`` and ``values`` are views of the held positions alone; what lies behind them in the
    buffers is undefined. Rows of one layer are written by one thread at a time. A later append
    writes behind the views that were returned earlier, a truncation followed by an append into
    them.

    Buffers come from ``pool`` and go back to it. They are exchanged when the rows outgrow them,
    and with the first append after a truncation that left less than a quarter of them in use;
    ``exchanges`` counts that.
    """

    def __init__(self, pool: BufferPool | None = None) -> None:
        self._shown_keys: torch.Tensor | None = None
        self._shown_values: torch.Tensor | None = None
        # Whether the views are made when they are asked for: of many sessions, those of all layers
        # take as long as a small pass.
        self._hidden = False
        super().__init__()
        self._pool = BufferPool(0) if pool is None else pool
        self._key_buffer: torch.Tensor | None = None
        self._value_buffer: torch.Tensor | None = None
        self._length = 0
        # Positions that may be written before the buffers are looked at again.
        self._room = 0
        self.exchanges = 0

    @property
    def keys(self) -> Any:
        """[batch, kv_heads, positions, head_dim]; None before the first row."""
        if self._hidden:
            self._show()
        return self._shown_keys

    @keys.setter
    def keys(self, keys: torch.Tensor | None) -> None:
        self._shown_keys = keys

    @property
    def values(self) -> Any:
        """As :attr:`keys`."""
        if self._hidden:
            self._show()
        return self._shown_values

    @values.setter
    def values(self, values: torch.Tensor | None) -> None:
        self._shown_values = values

    @property
    def buffers(self) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Those of keys and values, [batch, kv_heads, capacity, head_dim]; None before the first
        row.
        """
        if self._key_buffer is None or self._value_buffer is None:
            return None
        return self._key_buffer, self._value_buffer

    @property
    def capacity(self) -> int:
        """Positions that the buffers hold."""
        return 0 if self._key_buffer is None else self._key_buffer.shape[2]

    @property
    def allocated_bytes(self) -> int:
        """Bytes of the two buffers."""
        if self._key_buffer is None or self._value_buffer is None:
            return 0
        return self._key_buffer.nbytes + self._value_buffer.nbytes

    def append(
        self, keys: torch.Tensor, values: torch.Tensor, *, room: int = 0
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Copy rows [batch, kv_heads, n, head_dim] behind the held ones; views of all of them.

        The first rows decide shape, dtype and device. ``room``: positions that will follow at once,
        these included. Without gradients: call it in inference mode or with rows that need none.
        When it fails, the layer holds what it held.
        """
        start, count = self._length, keys.size(2)
        end = start + count
        if max(end, room) > self._room:
            self._make_room(keys, values, max(end, room))
        key_buffer, value_buffer = self._key_buffer, self._value_buffer
        key_buffer.narrow(2, start, count).copy_(keys)  # type: ignore[union-attr]
        value_buffer.narrow(2, start, count).copy_(values)  # type: ignore[union-attr]
        self._length, self._hidden = end, False
        held_keys = key_buffer.narrow(2, 0, end)  # type: ignore[union-attr]
        held_values = value_buffer.narrow(2, 0, end)  # type: ignore[union-attr]
        self._shown_keys, self._shown_values = held_keys, held_values
        return held_keys, held_values

    def reserve(self, end: int, like: torch.Tensor | None = None) -> None:
        """Have buffers for ``end`` positions; before the first row, those of rows ``like`` these.

        When it fails, the layer is as it was.
        """
        rows = like if self._key_buffer is None else self._key_buffer
        if end > self._room and rows is not None:
            self._make_room(rows, rows, end)

    def written(self, end: int) -> None:
        """Somebody else has written rows up to ``end`` into :attr:`buffers`, behind the held ones;
        :meth:`reserve` gave room for them.
        """
        self._length = end
        self._hidden = True

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` positions; nothing happens when fewer are held."""
        if length >= self._length:
            return
        self._length, self._hidden = length, True
        if capacity_for(length) * _SHRINK <= self.capacity:
            self._room = length

    def release(self) -> None:
        """Give the buffers to the pool; the layer is as new."""
        buffers = (self._key_buffer, self._value_buffer)
        self.keys = self.values = self._key_buffer = self._value_buffer = None
        self._length = self._room = 0
        self.exchanges += 1
        self.is_initialized = self._hidden = False
        for buffer in buffers:
            if buffer is not None:
                self._pool.give(buffer)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """:meth:`append` as Hugging Face calls it; gradients end here."""
        return self.append(key_states.detach(), value_states.detach())

    def get_seq_length(self) -> int:
        """Positions that are held."""
        return self._length

    def crop(self, tokens_to_remove: int) -> None:
        """Drop the last ``-tokens_to_remove`` positions, given as a negative number.

        Raises ValueError for a positive one, as Hugging Face does.
        """
        if tokens_to_remove > 0:
            raise ValueError(f"crop takes a negative number of positions, not {tokens_to_remove}")
        self.truncate(max(self._length + tokens_to_remove, 0))

    def reset(self) -> None:
        """Hold nothing, as Hugging Face asks for it."""
        self.release()

    def _refuse_batch(self, *_: object) -> NoReturn:
        raise NotImplementedError("the cache of a session holds one sequence: no beams, no batch")

    # Inherited, these would replace ``keys`` and leave the buffers behind.
    reorder_cache = batch_repeat_interleave = batch_select_indices = _refuse_batch

    def _make_room(self, keys: torch.Tensor, values: torch.Tensor, end: int) -> None:
        """Have buffers of the size class of ``end`` positions, with the held rows in them."""
        wanted = capacity_for(end)
        if wanted <= self.capacity < _SHRINK * wanted:
            self._room = self.capacity
            return
        # Both are taken before anything changes: the second may not be there.
        new_keys = self._buffer_like(keys, wanted)
        new_values = self._buffer_like(values, wanted)
        if self._length:
            new_keys.narrow(2, 0, self._length).copy_(self.keys)
            new_values.narrow(2, 0, self._length).copy_(self.values)
        old = (self._key_buffer, self._value_buffer)
        self._key_buffer, self._value_buffer, self._room = new_keys, new_values, wanted
        self.exchanges += 1
        self.is_initialized = True
        self._show()
        for buffer in old:
            if buffer is not None:
                self._pool.give(buffer)

    def _buffer_like(self, rows: torch.Tensor, capacity: int) -> torch.Tensor:
        batch, heads, _, width = rows.shape
        return self._pool.take((batch, heads, capacity, width), rows.dtype, rows.device)

    def _show(self) -> None:
        """Point ``keys`` and ``values`` at the held positions."""
        if self._key_buffer is not None and self._value_buffer is not None:
            self._shown_keys = self._key_buffer.narrow(2, 0, self._length)
            self._shown_values = self._value_buffer.narrow(2, 0, self._length)
        self._hidden = False
