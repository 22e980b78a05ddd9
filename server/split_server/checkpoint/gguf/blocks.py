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
_PAIRS = np.array([[0], [2], [4], [6]], np.uint8)
_TWOS = np.arange(0, 16, 2, dtype=np.uint16)
# The steps of "non-linear" types (ggml-common.h, kvalues_iq4nl).
_UNEVEN = np.array(
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32
)


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


def _q2_k(blocks: Bytes) -> Floats:
    steps = (blocks[:, 16:80].reshape(-1, 2, 1, 32) >> _PAIRS) & np.uint8(3)
    scales = _half(blocks, 80) * (blocks[:, :16] & 15).astype(np.float32)
    least = _half(blocks, 82) * (blocks[:, :16] >> 4).astype(np.float32)
    values = steps.reshape(-1, 16, 16).astype(np.float32)
    return (scales[:, :, None] * values - least[:, :, None]).reshape(-1, 256)


def _q3_k(blocks: Bytes) -> Floats:
    low = (blocks[:, 32:96].reshape(-1, 2, 1, 32) >> _PAIRS) & np.uint8(3)
    places = np.arange(8, dtype=np.uint8)[:, None]
    # A bit that is not set takes 4 away.
    high = 1 ^ ((blocks[:, None, :32] >> places) & 1)
    steps = low.reshape(-1, 16, 16).astype(np.int8) - 4 * high.reshape(-1, 16, 16).astype(np.int8)
    scale = _low_bits(blocks[:, 96:104]) | (_two_bits(blocks[:, 104:108]) << np.uint8(4))
    scales = _half(blocks, 108) * (scale.astype(np.int8) - 32).astype(np.float32)
    return (scales[:, :, None] * steps.astype(np.float32)).reshape(-1, 256)


def _two_bits(packed: Bytes) -> Bytes:
    """Pairs of bits of a run of bytes: the lowest of all of them, then the next."""
    return ((packed[:, None, :] >> _PAIRS) & np.uint8(3)).reshape(len(packed), -1)


def _iq4_nl(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * _UNEVEN[_low_bits(blocks[:, 2:])]


def _iq4_xs(blocks: Bytes) -> Floats:
    low = ((blocks[:, 4:8, None] >> _NIBBLES[:, 0]) & np.uint8(15)).reshape(-1, 8)
    high = np.ascontiguousarray(blocks[:, 2:4]).view(np.uint16) >> _TWOS
    scale = low | ((high & 3).astype(np.uint8) << np.uint8(4))
    scales = _half(blocks, 0) * (scale.astype(np.int8) - 32).astype(np.float32)
    runs = (blocks[:, 8:].reshape(-1, 8, 1, 16) >> _NIBBLES) & np.uint8(15)
    values: Floats = scales[:, :, None] * _UNEVEN[runs.reshape(-1, 8, 32)]
    return values.reshape(-1, 256)


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
    10: Block("Q2_K", 256, 84, _q2_k),
    11: Block("Q3_K", 256, 110, _q3_k),
    12: Block("Q4_K", 256, 144, _q4_k),
    13: Block("Q5_K", 256, 176, _q5_k),
    14: Block("Q6_K", 256, 210, _q6_k),
    20: Block("IQ4_NL", 32, 18, _iq4_nl),
    23: Block("IQ4_XS", 256, 136, _iq4_xs),
    30: Block("BF16", 1, 2, _bfloat16),
}
