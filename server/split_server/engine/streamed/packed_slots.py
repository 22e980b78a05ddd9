"""Memory of one layer with int8 matrices, which lie where their kernel has put them.

Direct reads want pages, and the kernel's matrices are not on them. So the bytes of a layer are read
beside and copied, which is fast against any disk.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

import torch

from split_server.checkpoint.layers.layout import StoredLayer, StoredTensor
from split_server.engine.linears.integers.raw import empty_packed, raw
from split_server.engine.streamed.integers import COLUMNS, PACKED, SCALES
from split_server.engine.streamed.slots import DTYPES, Slot

# Two dimensions of a packed matrix, the shape of another tensor.
_Shape = tuple[int, ...]


class PackedSlot:
    """``beside``: where layers are read to first, of all slots of a reader the same; ``layers``:
    those that it has at times.
    """

    def __init__(self, beside: Slot, layers: Sequence[StoredLayer]) -> None:
        self.buffer = beside.buffer
        self._source = beside.address
        self._rooms: dict[tuple[str, _Shape], torch.Tensor] = {}
        for layer in layers:
            shapes = _shapes(layer)
            for tensor in layer.tensors:
                key = (tensor.name, shapes[tensor.name])
                if key not in self._rooms:
                    self._rooms[key] = _room(tensor, key[1])

    def settle(self, layer: StoredLayer) -> None:
        """Take ``layer``, which ``buffer`` has."""
        rooms = self.tensors(layer)
        for tensor in layer.tensors:
            room = rooms[tensor.name]
            target = raw(room).address if tensor.dtype == "raw" else room.data_ptr()
            # Without the interpreter's lock, unlike assignments between buffers.
            ctypes.memmove(target, self._source + tensor.offset, tensor.size)

    def tensors(self, layer: StoredLayer) -> Mapping[str, torch.Tensor]:
        """What ``layer`` has in this slot, by their names; packed ones are opaque."""
        shapes = _shapes(layer)
        return {name: self._rooms[name, shape] for name, shape in shapes.items()}


def _shapes(layer: StoredLayer) -> Mapping[str, _Shape]:
    stored = {tensor.name: tensor.shape for tensor in layer.tensors}
    return {
        tensor.name: _of_packed(tensor, stored) if tensor.dtype == "raw" else tensor.shape
        for tensor in layer.tensors
    }


def _of_packed(tensor: StoredTensor, stored: Mapping[str, _Shape]) -> _Shape:
    name = tensor.name.removesuffix(PACKED)
    return (*stored[name + SCALES], *stored[name + COLUMNS])


def _room(tensor: StoredTensor, shape: _Shape) -> torch.Tensor:
    """Raises ValueError where the kernel's matrix has not as many bytes."""
    if tensor.dtype != "raw":
        return torch.zeros(shape, dtype=DTYPES[tensor.dtype])
    packed = empty_packed(*shape)
    if raw(packed).size != tensor.size:
        raise ValueError(f"{tensor.name} has {tensor.size} bytes, not {raw(packed).size}")
    return packed
