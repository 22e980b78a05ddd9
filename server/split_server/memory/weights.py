"""Memory that loading a checkpoint takes, from the sizes in its index alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from split_server.checkpoint.families import EMBEDDING, HEAD
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.grouped.matrices import GroupedMatrix
from split_server.checkpoint.safetensors_index import TensorSlice
from split_server.engine.linears.int4.matrix import Int4Matrix, kernel_group
from split_server.engine.linears.int4.quantize import held_bytes as int4_bytes
from split_server.engine.linears.quantize import held_bytes as int8_bytes
from split_server.engine.linears.siblings import leader
from split_server.errors import ModelTooLarge
from split_server.memory.limit import Limits, Room

# Of a value of the checkpoint.
ITEM_BYTES = {"f32": 4, "f16": 2, "bf16": 2}
# Of a value of a matrix in groups while it is read: words, bytes in both orders, one of them plain.
_READING_BYTES = 4
_INDEX_BYTES = 8
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


def weights_need(checkpoint: Checkpoint, item_bytes: int, quantize: str = "none") -> WeightsNeed:
    """Weights of the middle with ``item_bytes`` a value, of quantized matrices what those hold.

    Tensors of another dtype are converted before the embedding table is dropped; quantized and
    packed matrices are made from the others, those with the same input together. Matrices that the
    checkpoint keeps in groups are read one after the other.
    """
    if checkpoint.grouped:
        return _grouped_need(checkpoint, item_bytes, quantize)
    tensors = checkpoint.tensors.values()
    middle = _middle(checkpoint)
    converted = any(ITEM_BYTES[tensor.dtype] != item_bytes for tensor in tensors)
    quantized = quantize in _HELD_BYTES
    kept = kept_bytes(middle, item_bytes, quantize)
    loaded = _bytes(tensors, item_bytes) if converted else kept
    peak = loaded + (kept if converted and quantized else 0) + beside(checkpoint, item_bytes)
    mapped = sum(file.stat().st_size for file in checkpoint.weight_files)
    return WeightsNeed(kept, peak, mapped)


def beside(checkpoint: Checkpoint, item_bytes: int) -> int:
    """Bytes that loading takes besides the tensors themselves, with ``item_bytes`` a value."""
    return max(_together(_middle(checkpoint), item_bytes).values(), default=0) + _BESIDES


def check_weights(name: str, need: WeightsNeed, limit: Limits) -> None:
    """Raise ModelTooLarge when loading would exceed one of the rooms of ``limit``."""
    for room in limit.rooms():
        if need.loading(room) > room.free:
            raise ModelTooLarge(name, need.loading(room), room.free, room.source)


def _middle(checkpoint: Checkpoint) -> dict[str, TensorSlice]:
    return {
        name: tensor for name, tensor in checkpoint.tensors.items() if name not in (EMBEDDING, HEAD)
    }


def _together(middle: Mapping[str, TensorSlice], item_bytes: int) -> Counter[tuple[str, str]]:
    """Bytes of the layers that have the same input, by their block and the first one's name."""
    sizes: Counter[tuple[str, str]] = Counter()
    for name, tensor in middle.items():
        block, _, layer = name.rpartition(".")[0].rpartition(".")
        sizes[block, leader(layer)] += _bytes([tensor], item_bytes)
    return sizes


def _grouped_need(checkpoint: Checkpoint, item_bytes: int, quantize: str) -> WeightsNeed:
    """Of the embedding table a stand-in is loaded, which takes nothing."""
    others = [
        tensor for name, tensor in checkpoint.tensors.items() if name not in (EMBEDDING, HEAD)
    ]
    matrices = checkpoint.grouped.values()
    plain = sum(matrix.rows * matrix.columns * item_bytes for matrix in matrices)
    held = plain
    if quantize == "int4":
        held = sum(_int4_stored(matrix, item_bytes) for matrix in matrices)
    elif quantize == "int8":
        held = sum(_int8_layer(one.name, one.rows, one.columns, item_bytes) for one in matrices)
    largest = max(matrix.rows * matrix.columns for matrix in matrices)
    kept = _bytes(others, item_bytes) + held
    loaded = kept + (plain if quantize == "int8" else 0)
    mapped = sum(file.stat().st_size for file in checkpoint.weight_files)
    return WeightsNeed(kept, loaded + largest * _READING_BYTES + _BESIDES, mapped)


def _int4_stored(matrix: GroupedMatrix, item_bytes: int) -> int:
    group = kernel_group(matrix.group)
    if not group:
        return matrix.rows * matrix.columns * item_bytes
    order = 0 if matrix.order is None else matrix.columns * _INDEX_BYTES
    return Int4Matrix.held_bytes(matrix.rows, matrix.columns, group, item_bytes) + order


def _int8_layer(layer: str, rows: int, columns: int, item_bytes: int) -> int:  # noqa: ARG001
    return int8_bytes(layer.rpartition(".")[2], rows, columns)


def _int4_layer(layer: str, rows: int, columns: int, item_bytes: int) -> int:  # noqa: ARG001
    return int4_bytes(rows, columns, item_bytes)


_HELD_BYTES = {"int8": _int8_layer, "int4": _int4_layer}


def kept_bytes(middle: Mapping[str, TensorSlice], item_bytes: int, quantize: str) -> int:
    """Bytes of matrices as they are quantized, of biases of int8 as float32, and of the others as
    they are.
    """
    held = _HELD_BYTES.get(quantize)
    if held is None:
        return _bytes(middle.values(), item_bytes)
    total = 0
    for name, tensor in middle.items():
        layer, _, kind = name.rpartition(".")
        matrix = middle.get(f"{layer}.weight")
        if matrix is None or len(matrix.shape) != 2:
            total += _bytes([tensor], item_bytes)
        elif kind == "bias":
            total += _bytes([tensor], 4 if quantize == "int8" else item_bytes)
        else:
            total += held(layer, tensor.shape[0], tensor.shape[1], item_bytes)
    return total


def _bytes(tensors: Iterable[TensorSlice], item_bytes: int) -> int:
    return sum(tensor.size // ITEM_BYTES[tensor.dtype] * item_bytes for tensor in tensors)
