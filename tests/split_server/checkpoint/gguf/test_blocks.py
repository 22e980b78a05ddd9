"""Blocks of every type, against ggml's own Python (the package gguf)."""

from __future__ import annotations

from typing import Any

import gguf
import numpy as np
import pytest

from split_server.checkpoint.gguf.blocks import BLOCKS, floats
from split_server.errors import MalformedCheckpoint


def _blocks(kind: int, count: int) -> np.ndarray[Any, Any]:
    """Random blocks whose numbers are all finite."""
    block = BLOCKS[kind]
    drawn = np.random.default_rng(kind).integers(0, 256, (4 * count, block.bytes), np.uint8)
    with np.errstate(all="ignore"):
        finite = np.isfinite(block.read(drawn)).all(axis=1)
    return np.ascontiguousarray(drawn[finite][:count])


def _theirs(blocks: np.ndarray[Any, Any], kind: int) -> np.ndarray[Any, Any]:
    if kind in (0, 1):
        return blocks.view((np.float32, np.float16)[kind]).astype(np.float32)
    return gguf.dequantize(blocks, gguf.GGMLQuantizationType(kind))


@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: BLOCKS[kind].name)
def test_blocks_are_read_to_the_last_bit_as_ggml_reads_them(kind: int) -> None:
    blocks = _blocks(kind, 500)
    assert len(blocks) > 300
    mine, theirs = floats(blocks.tobytes(), kind), _theirs(blocks, kind).reshape(-1)
    assert np.array_equal(mine.view(np.uint32), theirs.view(np.uint32))


@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: BLOCKS[kind].name)
def test_sizes_and_names_are_those_of_ggml(kind: int) -> None:
    block, known = BLOCKS[kind], gguf.GGMLQuantizationType(kind)
    assert block.name == known.name
    assert (block.values, block.bytes) == gguf.GGML_QUANT_SIZES[known]


@pytest.mark.parametrize("kind", BLOCKS, ids=lambda kind: BLOCKS[kind].name)
def test_a_number_that_is_not_finite_is_refused(kind: int) -> None:
    blocks = np.full((3, BLOCKS[kind].bytes), 0xFF, np.uint8)
    with pytest.raises(MalformedCheckpoint, match="not finite"):
        floats(blocks.tobytes(), kind)
