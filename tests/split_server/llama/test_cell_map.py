"""The map of cells against what the library says of its own."""

from __future__ import annotations

import ctypes
import random
import struct
from typing import Any

import numpy as np
import pytest

from split_server.llama.cell_map import CellMap
from split_server.llama.context import Context, ContextOptions, Part
from tests.llama_models import library, split_folder

_CELLS, _SEQUENCES, _WIDTH = 256, 6, 64


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory, tiny_family: Any) -> Context:
    opened = library()
    checkpoint = split_folder(tiny_family("qwen2"), tmp_path_factory.mktemp("map"))
    assert checkpoint.middle is not None
    options = ContextOptions(_CELLS, _SEQUENCES, 128, 1, "f32", reordered=False)
    return Context(opened, checkpoint.middle, options)


def _positions(context: Context, sequence: int) -> list[int]:
    """Positions of a sequence in the order of its cells, from the state that the library writes: a
    mark and the sequence, streams, cells, and of each its position and its sequences with their
    number.
    """
    functions = context._functions
    size = functions.llama_state_seq_get_size(context._context, sequence)
    state = (ctypes.c_uint8 * size)()
    functions.llama_state_seq_get_data(context._context, state, size, sequence)
    raw = bytes(state)
    streams, cells = struct.unpack_from("<II", raw, 8)
    assert streams == 1
    return [struct.unpack_from("<i", raw, 16 + 12 * cell)[0] for cell in range(cells)]


def test_cells_are_taken_in_the_order_that_the_map_follows(context: Context) -> None:
    draw, cells = random.Random(5), CellMap(_CELLS)  # noqa: S311 - a test draws
    ends = [0] * _SEQUENCES
    rows = np.random.default_rng(1).standard_normal((64, _WIDTH), np.float32)
    compared = 0
    for turn in range(300):
        for sequence in range(_SEQUENCES):
            if draw.random() < 0.3 and ends[sequence]:
                ends[sequence] = draw.choice([0, draw.randint(0, ends[sequence])])
                context.remove(sequence, ends[sequence])
                cells.remove(sequence, ends[sequence])
        parts = []
        free = _CELLS - sum(ends)
        for sequence in draw.sample(range(_SEQUENCES), draw.randint(1, _SEQUENCES)):
            count = min(draw.choice([1, 1, 1, 3, 17]), free)
            if count:
                parts.append(Part(sequence, ends[sequence], rows[:count]))
                free -= count
        if not parts:
            continue
        _place(cells, parts)
        context.run(parts)
        for part in parts:
            ends[part.sequence] = part.end
        if turn % 5 == 0:
            for sequence in range(_SEQUENCES):
                order = cells.of(sequence)
                assert _positions(context, sequence) == np.argsort(order).tolist()
                compared += len(order)
    assert compared > 2000


def _place(cells: CellMap, parts: list[Part]) -> None:
    sequences = np.concatenate([np.full(len(p.rows), p.sequence, np.int16) for p in parts])
    positions = np.concatenate([np.arange(p.start, p.end, dtype=np.int32) for p in parts])
    cells.place(sequences, positions)
