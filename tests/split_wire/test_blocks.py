"""Blocks of q8_0 against shared vectors, and against the package of ggml's own project."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.vectors import blocks
from scripts.vectors.run import render
from split_wire.blocks import q8_0_fits, q8_0_size, q8_0_to_bf16

VECTORS = Path(__file__).parents[1] / "vectors" / "blocks.json"
CASES = json.loads(VECTORS.read_text())["cases"]
BLOCK, VALUES = 34, 32


def test_the_vectors_are_what_their_program_writes() -> None:
    assert render(blocks.build()) == VECTORS.read_text()


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_block_is_the_values_of_the_vectors(case: dict[str, str]) -> None:
    assert q8_0_to_bf16(bytes.fromhex(case["blocks"])).hex() == case["bf16"]


def test_every_finite_scale_gives_the_values_of_the_vectors() -> None:
    scales = np.arange(1 << 16, dtype="<u2")
    scales = scales[(scales & 0x7C00) != 0x7C00]
    places = np.arange(VALUES, dtype=np.uint32)
    values = (7 * scales.astype(np.uint32)[:, None] + 37 * places).astype(np.uint8)
    packed = np.concatenate([scales[:, None].view(np.uint8), values], axis=1).tobytes()
    expected = json.loads(VECTORS.read_text())["every_scale"]
    assert hashlib.sha256(packed).hexdigest() == expected["blocks_sha256"]
    assert hashlib.sha256(q8_0_to_bf16(packed)).hexdigest() == expected["bf16_sha256"]


def test_quantised_rows_are_those_of_the_package_gguf_as_torch_rounds_them() -> None:
    values = np.random.default_rng(3).standard_normal((300, 96)).astype(np.float32)
    packed = gguf.quants.quantize(values, gguf.GGMLQuantizationType.Q8_0)
    theirs = gguf.quants.dequantize(packed, gguf.GGMLQuantizationType.Q8_0)
    rounded = torch.from_numpy(theirs).to(torch.bfloat16).view(torch.uint8).numpy().tobytes()
    assert q8_0_to_bf16(packed.tobytes()) == rounded


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=8 * BLOCK))
def test_any_bytes_are_read_block_by_block_or_refused_by_their_length(data: bytes) -> None:
    if len(data) % BLOCK:
        with pytest.raises(ValueError, match="no whole blocks"):
            q8_0_to_bf16(data)
        return
    pieces = [q8_0_to_bf16(data[at : at + BLOCK]) for at in range(0, len(data), BLOCK)]
    assert all(len(piece) == 2 * VALUES for piece in pieces)
    assert q8_0_to_bf16(data) == b"".join(pieces)


def test_more_blocks_than_are_read_at_once_are_read_all() -> None:
    data = np.random.default_rng(5).integers(0, 120, 4100 * BLOCK, np.uint8).tobytes()
    whole = q8_0_to_bf16(data)
    assert whole[-2 * VALUES :] == q8_0_to_bf16(data[-BLOCK:])
    assert len(whole) == 4100 * 2 * VALUES


def test_sizes_are_those_of_whole_blocks() -> None:
    assert q8_0_size(8 << 20) == (8 << 20) // 64 * 34
    assert q8_0_fits(0, 64, 128)
    assert not q8_0_fits(64, 65)
    with pytest.raises(ValueError, match="no whole blocks"):
        q8_0_size(65)
