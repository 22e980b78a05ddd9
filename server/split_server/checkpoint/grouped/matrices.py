"""The matrices of a checkpoint that lie in groups: their tensors found, shapes checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from split_server.checkpoint.grouped.scheme import Scheme
from split_server.checkpoint.safetensors_index import TensorSlice
from split_server.errors import MalformedCheckpoint

# Values in a word of 32 bits.
PER_WORD = 8
_VALUES, _ZEROS, _SCALES, _ORDER = ".qweight", ".qzeros", ".scales", ".g_idx"
_PARTS = (_VALUES, _ZEROS, _SCALES, _ORDER)
_SCALE_DTYPES = ("f16", "bf16", "f32")


@dataclass(frozen=True, slots=True)
class GroupedMatrix:
    """A matrix [rows, columns] whose ``columns`` lie in groups of ``group``.

    ``values`` and ``zeros`` are packed in words as ``scheme`` says; ``scales`` [groups, rows];
    ``order`` [columns]: the group of each column, None: one group after the other.
    """

    name: str
    rows: int
    columns: int
    group: int
    scheme: Scheme
    values: TensorSlice
    zeros: TensorSlice
    scales: TensorSlice
    order: TensorSlice | None


def split_tensors(
    scheme: Scheme, tensors: Mapping[str, TensorSlice]
) -> tuple[dict[str, TensorSlice], dict[str, GroupedMatrix]]:
    """The float tensors that are as they are, and the matrices in groups by their layers' names.

    Raises MalformedCheckpoint.
    """
    layers = [name.removesuffix(_VALUES) for name in tensors if name.endswith(_VALUES)]
    if not layers:
        raise MalformedCheckpoint(
            "config.json says quantization_config, but no tensor is a qweight"
        )
    matrices = {layer: _matrix(scheme, layer, tensors) for layer in layers}
    parts = {f"{layer}{part}" for layer in layers for part in _PARTS}
    plain = {
        name: tensor
        for name, tensor in tensors.items()
        if name not in parts and tensor.dtype != "i32"
    }
    for layer in layers:
        if f"{layer}.weight" in plain:
            raise MalformedCheckpoint(f"{layer} has both a weight and a qweight")
    return plain, matrices


def _matrix(scheme: Scheme, layer: str, tensors: Mapping[str, TensorSlice]) -> GroupedMatrix:
    values = tensors[f"{layer}{_VALUES}"]
    for part in (_ZEROS, _SCALES):
        if f"{layer}{part}" not in tensors:
            raise MalformedCheckpoint(f"{layer} has a qweight and no {part[1:]}")
    zeros, scales = tensors[f"{layer}{_ZEROS}"], tensors[f"{layer}{_SCALES}"]
    order = tensors.get(f"{layer}{_ORDER}") if scheme.ordered else None
    if len(values.shape) != 2 or not all(values.shape):
        raise MalformedCheckpoint(f"{layer}.qweight has the shape {list(values.shape)}")
    high, wide = values.shape
    columns, rows = (high * PER_WORD, wide) if scheme.along_rows else (high, wide * PER_WORD)
    group = scheme.group or columns
    if columns % group or columns % PER_WORD or rows % PER_WORD:
        raise MalformedCheckpoint(f"{layer} of {rows} x {columns} has no whole groups of {group}")
    groups = columns // group
    _require(layer, _VALUES, values, values.shape, ("i32",))
    _require(layer, _ZEROS, zeros, (groups, rows // PER_WORD), ("i32",))
    _require(layer, _SCALES, scales, (groups, rows), _SCALE_DTYPES)
    if order is not None:
        _require(layer, _ORDER, order, (columns,), ("i32",))
    return GroupedMatrix(layer, rows, columns, group, scheme, values, zeros, scales, order)


def _require(
    layer: str, part: str, tensor: TensorSlice, shape: tuple[int, ...], dtypes: tuple[str, ...]
) -> None:
    if tensor.shape != shape or tensor.dtype not in dtypes:
        raise MalformedCheckpoint(
            f"{layer}{part} is {tensor.dtype} {list(tensor.shape)}, "
            f"not {' or '.join(dtypes)} {list(shape)}"
        )
