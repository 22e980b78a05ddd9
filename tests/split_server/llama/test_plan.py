"""What fits of a model in llama.cpp, and what of it is taken when."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_server.errors import EngineUnusable, ModelTooLarge
from split_server.llama.model import ROWS, load_llama, planned
from split_server.llama.plan import CellPlan, buffer_bytes, cells_within
from split_server.memory.limit import Room
from split_server.memory.plan import ModelShape
from split_server.memory.usage import process_usage
from tests.llama_models import PLENTY, library, split_folder

_SHAPE = ModelShape(896, 4864, 24, 14, 2, 64, 32_768, 2, 12_288)
_GIB = 1 << 30


def test_cells_are_those_of_a_full_context_where_there_is_plenty() -> None:
    assert cells_within(_SHAPE, ROWS, 64 * _GIB) == 32_768


def test_cells_and_their_buffers_take_half_of_what_is_free() -> None:
    cells = cells_within(_SHAPE, ROWS, _GIB)
    taken = cells * 12_288 + buffer_bytes(_SHAPE, ROWS, cells)
    assert 0.95 * _GIB / 2 < taken <= _GIB / 2
    assert cells % 256 == 0


def test_as_many_cells_as_are_asked_for_if_they_fit() -> None:
    assert cells_within(_SHAPE, ROWS, 8 * _GIB, 12_288 * 1000) == 1024
    assert cells_within(_SHAPE, ROWS, 1 << 20, 12_288 * 1000) == 0


def test_a_step_needs_its_rows_alone() -> None:
    plan = CellPlan(_SHAPE, ROWS, 4096)
    assert plan.cache_bytes(4000) == plan.row_bytes(4000) == plan.exchange(4000) == 0
    assert plan.positions_within(12_288 * 100) == 100
    assert plan.positions_within(1 << 50) == 4096
    assert plan.largest_workspace(4096) < 2 << 20


def test_buffers_take_no_more_than_is_planned_for_them(tiny_path: Path, tmp_path: Path) -> None:
    library()
    checkpoint = split_folder(tiny_path, tmp_path)
    plan = planned(checkpoint, "auto", PLENTY, 64 << 20)
    before = process_usage().data
    load_llama(checkpoint, plan, sessions=2, threads=1, out_of_memory=MemoryError)
    shape, cells = plan.memory.shape, plan.memory.cells
    wanted = buffer_bytes(shape, ROWS, cells) + cells * shape.kv_bytes_per_position
    assert wanted > 100 << 20
    # Beside them: the code and threads of the library.
    assert process_usage().data - before < wanted + (96 << 20)


@pytest.mark.parametrize("dtype", ["auto", "float16"])
def test_a_model_for_which_there_is_no_memory_is_refused(
    dtype: str, tiny_path: Path, tmp_path: Path
) -> None:
    checkpoint = split_folder(tiny_path, tmp_path)
    with pytest.raises(ModelTooLarge, match="limited by: test"):
        planned(checkpoint, dtype, Room(1 << 20, "test"))


def test_a_model_larger_than_memory_stays_in_its_file(tiny_path: Path, tmp_path: Path) -> None:
    checkpoint = split_folder(tiny_path, tmp_path)
    assert checkpoint.middle is not None
    with checkpoint.middle.open("r+b") as file:
        file.truncate(4 << 30)
    plan = planned(checkpoint, "auto", Room(1 << 30, "test"))
    assert plan.mapped
    assert plan.memory.cells >= 256
    assert not planned(checkpoint, "auto", Room(8 << 30, "test")).mapped


@pytest.mark.parametrize(
    ("dtype", "bound", "kind"),
    [("float16", 50_000.0, "f16"), ("float16", 60_000.0, "bf16"), ("float32", 1e9, "f32")],
)
def test_cells_are_of_a_dtype_that_no_key_or_value_exceeds(
    dtype: str, bound: float, kind: str, tiny_path: Path, tmp_path: Path
) -> None:
    checkpoint = split_folder(tiny_path, tmp_path)
    (checkpoint.path / "split.json").write_text(f'{{"largest_key_or_value": {bound}}}')
    assert planned(checkpoint, dtype, PLENTY).kind == kind


def test_more_sessions_than_sequences_are_refused(tiny_path: Path, tmp_path: Path) -> None:
    library()
    checkpoint = split_folder(tiny_path, tmp_path)
    plan = planned(checkpoint, "auto", PLENTY)
    with pytest.raises(EngineUnusable, match="at most 248 sessions"):
        load_llama(checkpoint, plan, sessions=249, out_of_memory=MemoryError)
