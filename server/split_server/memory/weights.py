"""Memory that loading a checkpoint takes, from the sizes in its index alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from split_server.checkpoint.families import EMBEDDING, HEAD
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.safetensors_index import TensorSlice
from split_server.engine.linears.quantize import held_bytes
from split_server.engine.linears.siblings import leader
from split_server.errors import ModelTooLarge
from split_server.memory.limit import MemoryLimit, Room

_ITEM_BYTES = {"f32": 4, "f16": 2, "bf16": 2}
# Measured beside the tensors: modules, kernels that are loaded on first use, repacked matrices.
_BESIDES = 96 << 20


@dataclass(frozen=True, slots=True)
class WeightsNeed:
    """Bytes: ``kept`` while serving, ``peak`` while loading, ``mapped`` of files meanwhile."""

    kept: int
    peak: int
    mapped: int

    def loading(self, room: Room) -> int:
        """Bytes that count against ``room``: mapped files do where untouched memory does."""
        return self.peak + (self.mapped if room.counts_untouched else 0)


def weights_need(checkpoint: Checkpoint, item_bytes: int, *, int8: bool = False) -> WeightsNeed:
    """Weights of the middle with ``item_bytes`` a value, of ``int8`` matrices what those hold.

    Tensors of another dtype are converted before the embedding table is dropped; matrices with the
    same input are made one, or int8, together, while they are still there.
    """
    tensors = checkpoint.tensors.values()
    middle = {
        name: tensor for name, tensor in checkpoint.tensors.items() if name not in (EMBEDDING, HEAD)
    }
    converted = any(_ITEM_BYTES[tensor.dtype] != item_bytes for tensor in tensors)
    kept = _int8_bytes(middle, item_bytes) if int8 else _bytes(middle.values(), item_bytes)
    loaded = _bytes(tensors, item_bytes) if converted else kept
    largest = max(_together(middle, item_bytes).values(), default=0)
    peak = loaded + (kept if converted and int8 else 0) + largest + _BESIDES
    mapped = sum(file.stat().st_size for file in checkpoint.weight_files)
    return WeightsNeed(kept, peak, mapped)


def check_weights(name: str, need: WeightsNeed, limit: MemoryLimit) -> None:
    """Raise ModelTooLarge when loading would exceed ``limit``."""
    for room in limit.rooms():
        if need.loading(room) > room.free:
            raise ModelTooLarge(name, need.loading(room), room.free, room.source)


def _together(middle: Mapping[str, TensorSlice], item_bytes: int) -> Counter[tuple[str, str]]:
    """Bytes of the layers that have the same input, by their block and the first one's name."""
    sizes: Counter[tuple[str, str]] = Counter()
    for name, tensor in middle.items():
        block, _, layer = name.rpartition(".")[0].rpartition(".")
        sizes[block, leader(layer)] += _bytes([tensor], item_bytes)
    return sizes


def _int8_bytes(middle: Mapping[str, TensorSlice], item_bytes: int) -> int:
    """Bytes of matrices as int8, of their biases as float32, and of the others as they are."""
    total = 0
    for name, tensor in middle.items():
        layer, _, kind = name.rpartition(".")
        matrix = middle.get(f"{layer}.weight")
        if matrix is None or len(matrix.shape) != 2:
            total += _bytes([tensor], item_bytes)
        elif kind == "bias":
            total += _bytes([tensor], 4)
        else:
            total += held_bytes(layer.rpartition(".")[2], *tensor.shape)
    return total


def _bytes(tensors: Iterable[TensorSlice], item_bytes: int) -> int:
    return sum(tensor.size // _ITEM_BYTES[tensor.dtype] * item_bytes for tensor in tensors)
