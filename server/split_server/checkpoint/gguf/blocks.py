"""Quantized blocks of ggml as float32.

Layouts are those of ggml-common.h (https://github.com/ggml-org/ggml); each function takes ``[n,
bytes]`` of uint8 and gives ``[n, values]``. Products and sums are in ggml's order, so that the
numbers are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from split_server.errors import MalformedCheckpoint

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
_NIBBLES = np.array([[0], [4]], np.uint8)


@dataclass(frozen=True, slots=True)
class Block:
    """``values`` numbers in ``bytes``, and how they are read."""

    name: str
    values: int
    bytes: int
    read: Callable[[Bytes], Floats]


def floats(data: bytes, kind: int) -> Floats:
    """All values of whole blocks, flat. Raises MalformedCheckpoint where one is not finite."""
    block = BLOCKS[kind]
    found = block.read(np.frombuffer(data, np.uint8).reshape(-1, block.bytes))
    if not np.isfinite(found).all():
        raise MalformedCheckpoint("a tensor holds numbers that are not finite")
    return found.reshape(-1)


def _half(blocks: Bytes, at: int) -> Floats:
    """The float16 at byte ``at`` of each block, as a column."""
    return np.ascontiguousarray(blocks[:, at : at + 2]).view(np.float16).astype(np.float32)


def _view(dtype: Any) -> Callable[[Bytes], Floats]:
    return lambda blocks: blocks.view(dtype).astype(np.float32)


def _bfloat16(blocks: Bytes) -> Floats:
    return (blocks.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def _low_bits(packed: Bytes) -> Bytes:
    """Nibbles of each run of 16 bytes (``[n, 16]``): the low ones, then the high ones."""
    return ((packed[:, None, :] >> _NIBBLES) & np.uint8(15)).reshape(len(packed), -1)


def _fifth_bits(packed: Bytes) -> Bytes:
    """32 bits of four bytes, each as 0 or 16."""
    return np.unpackbits(packed, axis=-1, bitorder="little") << np.uint8(4)


def _q4_0(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * (_low_bits(blocks[:, 2:]).astype(np.float32) - 8)


def _q4_1(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * _low_bits(blocks[:, 4:]).astype(np.float32) + _half(blocks, 2)


def _q5_0(blocks: Bytes) -> Floats:
    bits = _low_bits(blocks[:, 6:]) | _fifth_bits(blocks[:, 2:6])
    return _half(blocks, 0) * (bits.astype(np.float32) - 16)


def _q5_1(blocks: Bytes) -> Floats:
    bits = _low_bits(blocks[:, 8:]) | _fifth_bits(blocks[:, 4:8])
    return _half(blocks, 0) * bits.astype(np.float32) + _half(blocks, 2)


def _q8_0(blocks: Bytes) -> Floats:
    return blocks[:, 2:].view(np.int8).astype(np.float32) * _half(blocks, 0)


def _scales(blocks: Bytes) -> tuple[Floats, Floats]:
    """Scale and minimum of the eight runs of a K block, ``[n, 8, 1]``, from 12 bytes of 6 bits."""
    first, second, rest = blocks[:, 4:8], blocks[:, 8:12], blocks[:, 12:16]
    scale = np.concatenate([first & 63, (rest & 15) | ((first >> 2) & 48)], axis=1)
    least = np.concatenate([second & 63, (rest >> 4) | ((second >> 2) & 48)], axis=1)
    scales = _half(blocks, 0) * scale.astype(np.float32)
    return scales[:, :, None], (_half(blocks, 2) * least.astype(np.float32))[:, :, None]


def _runs(packed: Bytes) -> Bytes:
    """Nibbles of 128 bytes as eight runs of 32: low ones of 32 bytes, then their high ones."""
    return ((packed.reshape(-1, 4, 1, 32) >> _NIBBLES) & np.uint8(15)).reshape(-1, 8, 32)


def _q4_k(blocks: Bytes) -> Floats:
    scales, least = _scales(blocks)
    return (scales * _runs(blocks[:, 16:]).astype(np.float32) - least).reshape(-1, 256)


def _q5_k(blocks: Bytes) -> Floats:
    scales, least = _scales(blocks)
    places = np.arange(8, dtype=np.uint8)[:, None]
    fifth = ((blocks[:, None, 16:48] >> places) & 1) << np.uint8(4)
    bits = _runs(blocks[:, 48:]) | fifth
    return (scales * bits.astype(np.float32) - least).reshape(-1, 256)


def _q6_k(blocks: Bytes) -> Floats:
    low = blocks[:, :128].reshape(-1, 2, 1, 64) >> _NIBBLES
    places = np.arange(0, 8, 2, dtype=np.uint8)[:, None]
    high = (blocks[:, 128:192].reshape(-1, 2, 1, 32) >> places) & 3
    bits = (low & 15).reshape(-1, 16, 16) | (high << np.uint8(4)).reshape(-1, 16, 16)
    scales = _half(blocks, 208) * blocks[:, 192:208].view(np.int8).astype(np.float32)
    return (scales[:, :, None] * (bits.astype(np.float32) - 32)).reshape(-1, 256)


Q8_0 = 8
# By ggml's number of the type.
BLOCKS = {
    0: Block("F32", 1, 4, _view(np.float32)),
    1: Block("F16", 1, 2, _view(np.float16)),
    2: Block("Q4_0", 32, 18, _q4_0),
    3: Block("Q4_1", 32, 20, _q4_1),
    6: Block("Q5_0", 32, 22, _q5_0),
    7: Block("Q5_1", 32, 24, _q5_1),
    Q8_0: Block("Q8_0", 32, 34, _q8_0),
    12: Block("Q4_K", 256, 144, _q4_k),
    13: Block("Q5_K", 256, 176, _q5_k),
    14: Block("Q6_K", 256, 210, _q6_k),
    30: Block("BF16", 1, 2, _bfloat16),
}
