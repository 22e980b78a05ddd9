"""Matrices of AWQ and GPTQ checkpoints: read, and as layers of four bits or as plain weights.

A stored value v stands for (v - zero point) * scale of its group. GPTQ packs eight values of a row
into a word, the first in its lowest bits, and keeps a zero point less one in its first version;
AWQ packs those of eight rows, in the order 0, 2, 4, 6, 1, 3, 5, 7.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from split_server.checkpoint.grouped.matrices import PER_WORD, GroupedMatrix
from split_server.checkpoint.safetensors_index import TensorSlice
from split_server.engine.linears.int4.layer import Int4Linear
from split_server.engine.linears.int4.matrix import BLOCK, MIDDLE, Int4Matrix, kernel_group
from split_server.errors import MalformedCheckpoint

_BITS = 4
_AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
_DTYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i32": torch.int32,
}
# Rows that are float32 at a time.
_ROWS_AT_ONCE = 16 * BLOCK


class Stored(NamedTuple):
    """``values`` [out, in] of 0 to 15, columns one group after the other; ``scales`` [out, groups],
    ``zeros`` [out, groups]: zero points, as floats; ``order`` [in]: the columns of the checkpoint
    in that order, None where it is the same.
    """

    values: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor
    order: torch.Tensor | None


def read_stored(matrix: GroupedMatrix) -> Stored:
    """The matrix as it lies in the checkpoint. Raises MalformedCheckpoint."""
    scales = read_tensor(matrix.scales).float()
    if not bool(scales.isfinite().all()):
        raise MalformedCheckpoint(f"{matrix.name}.scales has values that are not finite")
    values, zeros = read_tensor(matrix.values), read_tensor(matrix.zeros)
    if matrix.scheme.along_rows:
        values, zeros = _along_first(values), _along_last(zeros, tuple(range(PER_WORD)))
    else:
        values, zeros = _along_last(values, _AWQ_ORDER), _along_last(zeros, _AWQ_ORDER)
    points = zeros.float() + matrix.scheme.zero_offset
    order = _order(matrix)
    if order is not None:
        values = values[order]
    return Stored(values.T.contiguous(), scales.T, points.T, order)


def int4_stored(
    matrix: GroupedMatrix, bias: torch.nn.Parameter | None, dtype: torch.dtype
) -> Int4Linear:
    """A layer of the stored values themselves; scales and zero points are rounded to ``dtype``.

    For a matrix whose groups ``fits_kernel``. Raises MalformedCheckpoint.
    """
    stored = read_stored(matrix)
    group = kernel_group(matrix.group)
    found = Int4Matrix(matrix.rows, matrix.columns, group, dtype)
    repeats = matrix.group // group
    scales = stored.scales.repeat_interleave(repeats, dim=1)
    zeros = ((MIDDLE - stored.zeros) * stored.scales).repeat_interleave(repeats, dim=1)
    for begin in range(0, matrix.rows, _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        found.put(begin, stored.values[part], scales[part], zeros[part])
    return Int4Linear(found, bias, stored.order)


def fits_kernel(matrix: GroupedMatrix) -> bool:
    """Whether its groups are whole ones of the kernel's."""
    return kernel_group(matrix.group) > 0


def plain_stored(matrix: GroupedMatrix, dtype: torch.dtype) -> torch.Tensor:
    """The weights [out, in] that it stands for, in ``dtype``. Raises MalformedCheckpoint."""
    stored = read_stored(matrix)
    weight = torch.empty((matrix.rows, matrix.columns), dtype=dtype)
    for begin in range(0, matrix.rows, _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        steps = stored.values[part].float()
        steps = steps.reshape(len(steps), -1, matrix.group)
        exact = (steps - stored.zeros[part, :, None]) * stored.scales[part, :, None]
        if stored.order is None:
            weight[part] = exact.flatten(1)
        else:
            weight[part, stored.order] = exact.flatten(1).to(dtype)
    return weight


def read_tensor(tensor: TensorSlice) -> torch.Tensor:
    """A tensor of the checkpoint in its own dtype. Raises MalformedCheckpoint."""
    try:
        with tensor.file.open("rb") as file:
            file.seek(tensor.offset)
            data = bytearray(file.read(tensor.size))
    except OSError as error:
        raise MalformedCheckpoint(f"{tensor.file.name} cannot be read") from error
    if len(data) != tensor.size:
        raise MalformedCheckpoint(f"{tensor.file.name} is cut short; fetch it again")
    return torch.frombuffer(data, dtype=_DTYPES[tensor.dtype]).view(tensor.shape)


def _along_first(words: torch.Tensor) -> torch.Tensor:
    """uint8 [8 n, m] of words [n, m]."""
    found = torch.empty((len(words), PER_WORD, words.shape[1]), dtype=torch.uint8)
    for index in range(PER_WORD):
        found[:, index] = _nibbles(words, index)
    return found.flatten(0, 1)


def _along_last(words: torch.Tensor, order: tuple[int, ...]) -> torch.Tensor:
    """uint8 [n, 8 m] of words [n, m]; ``order``: where each of the eight belongs."""
    found = torch.empty((*words.shape, PER_WORD), dtype=torch.uint8)
    for index, place in enumerate(order):
        found[..., place] = _nibbles(words, index)
    return found.flatten(1)


def _nibbles(words: torch.Tensor, index: int) -> torch.Tensor:
    return words.bitwise_right_shift(_BITS * index).bitwise_and_(15)


def _order(matrix: GroupedMatrix) -> torch.Tensor | None:
    """The columns, those of the first group first; None where they lie so."""
    if matrix.order is None:
        return None
    groups = read_tensor(matrix.order).long()
    count = matrix.columns // matrix.group
    if not bool(((groups >= 0) & (groups < count)).all()):
        raise MalformedCheckpoint(f"{matrix.name}.g_idx names groups that do not exist")
    if not bool((groups.bincount(minlength=count) == matrix.group).all()):
        raise MalformedCheckpoint(f"{matrix.name}.g_idx has groups of other than {matrix.group}")
    order = groups.argsort(stable=True)
    return None if torch.equal(order, torch.arange(matrix.columns)) else order
