from pathlib import Path

import numpy as np
import pytest
import torch

from split_client.generation.errors import (
    TokenIdOutOfRange,
    UnknownFloat,
    WeightsMissing,
    WeightsSizeMismatch,
)
from split_client.generation.head.rows import WeightRows
from split_wire.floats import FloatName
from tests.split_client.generation.weights import write_rows

TORCH = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


@pytest.fixture
def weights() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((37, 12), dtype=np.float32)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
def test_rows_equal_torch_after_the_same_cast(
    tmp_path: Path, weights: np.ndarray, dtype: FloatName
) -> None:
    rows = write_rows(tmp_path / "w", weights, dtype)
    expected = torch.from_numpy(weights).to(TORCH[dtype]).float().numpy()
    assert np.array_equal(rows.take([5, 0, 36, 5]), expected[[5, 0, 36, 5]])
    assert np.array_equal(rows.block(3, 9), expected[3:9])
    assert np.array_equal(np.concatenate([b for _, b in rows.blocks(8)]), expected)
    assert rows.take([]).shape == (0, 12)


def test_float32_blocks_are_views_of_the_mapping(tmp_path: Path, weights: np.ndarray) -> None:
    block = write_rows(tmp_path / "w", weights, "f32").block(0, 4)
    assert not block.flags.owndata
    assert not block.flags.writeable


@pytest.mark.parametrize("token_id", [-1, 37, 2**40])
def test_an_id_without_a_row_is_named(tmp_path: Path, weights: np.ndarray, token_id: int) -> None:
    rows = write_rows(tmp_path / "w", weights)
    with pytest.raises(TokenIdOutOfRange, match=rf"{token_id} is outside 0\.\.36"):
        rows.take([0, token_id])


@pytest.mark.parametrize(("rows", "hidden"), [(36, 12), (38, 12), (37, 6), (0, 12)])
def test_a_file_of_another_size_is_refused(
    tmp_path: Path, weights: np.ndarray, rows: int, hidden: int
) -> None:
    write_rows(tmp_path / "w", weights)
    with pytest.raises(WeightsSizeMismatch, match="888 bytes"):
        WeightRows.open(tmp_path / "w", "bf16", rows, hidden)


def test_a_missing_file_and_an_unknown_dtype_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing):
        WeightRows.open(tmp_path / "none", "bf16", 1, 1)
    with pytest.raises(UnknownFloat):
        WeightRows.open(tmp_path / "none", "f8", 1, 1)  # type: ignore[arg-type]
