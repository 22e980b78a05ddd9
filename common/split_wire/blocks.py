"""Blocks of 32 values as rows of weights travel in: ``q8_0``, a float16 scale and 32 signed bytes.

The layout is that of ``block_q8_0`` in ggml-common.h (https://github.com/ggml-org/ggml), which
GGUF files have. A value is scale x byte in float32, which is exact; as bfloat16 it is rounded to
nearest, ties to even. So bytes of a file of bfloat16 follow from its blocks, each from its own.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_wire.floats import f32_to_bf16

# What the name of a file of bfloat16 gets where it travels in blocks.
Q8_0_SUFFIX: Final = ".q8_0"
_VALUES: Final = 32
_BLOCK: Final = 2 + _VALUES
_BF16_BLOCK: Final = 2 * _VALUES
# What is made of so many blocks stays in the processor's cache: twice as fast as 8 MB at once.
_AT_ONCE: Final = 4096


def q8_0_size(count: int) -> int:
    """Bytes of the blocks of ``count`` bytes of bfloat16. Raises ValueError: no whole blocks."""
    if count % _BF16_BLOCK:
        raise ValueError(f"{count} bytes of bfloat16 are no whole blocks of {_VALUES} values")
    return count // _BF16_BLOCK * _BLOCK


def q8_0_fits(*counts: int) -> bool:
    """Whether each of these numbers of bytes of bfloat16 is one of whole blocks."""
    return all(count % _BF16_BLOCK == 0 for count in counts)


def q8_0_to_bf16(blocks: bytes) -> bytes:
    """Bytes of bfloat16, little endian, of whole blocks. Raises ValueError for another length.

    A scale that is no number gives values that are none; whoever reads what a stranger sent
    compares the result with a digest.
    """
    if len(blocks) % _BLOCK:
        raise ValueError(f"{len(blocks)} bytes are no whole blocks of {_BLOCK}")
    packed = np.frombuffer(blocks, np.uint8).reshape(-1, _BLOCK)
    values = np.empty((len(packed), _VALUES), "<u2")
    for first in range(0, len(packed), _AT_ONCE):
        values[first : first + _AT_ONCE] = _bf16(packed[first : first + _AT_ONCE])
    return values.tobytes()


def _bf16(packed: NDArray[np.uint8]) -> NDArray[np.uint16]:
    scales = np.ascontiguousarray(packed[:, :2]).view("<f2").astype(np.float32)
    with np.errstate(invalid="ignore"):
        return f32_to_bf16(packed[:, 2:].view(np.int8).astype(np.float32) * scales)
