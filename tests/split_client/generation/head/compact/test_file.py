import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from split_client.generation.errors import PlaneDamaged, PlaneNotStored, WeightsNotFinite
from split_client.generation.head.compact import build as compact_build
from split_client.generation.head.compact.build import build_plane, packed, quantise
from split_client.generation.head.compact.file import BLOCK, Plane, PlaneShape, read_plane
from split_client.generation.head.rows import WeightRows
from tests.split_client.generation.weights import write_rows

ROWS, HIDDEN = 300, 100  # the second block of a row is not full
SHAPE = PlaneShape(ROWS, HIDDEN, b"s" * 32)


@pytest.fixture
def rows(tmp_path: Path) -> WeightRows:
    weights = np.random.default_rng(0).standard_normal((ROWS, HIDDEN), dtype=np.float32)
    weights[:, ::50] *= np.float32(2.0**-7)
    return write_rows(tmp_path / "w", weights)


@pytest.fixture
def path(tmp_path: Path, rows: WeightRows) -> Path:
    build_plane(tmp_path / "compact-v1", rows, SHAPE)
    return tmp_path / "compact-v1"


def rebuilt(plane: Plane) -> np.ndarray:
    """The weights that a plane stands for, float64 [rows, hidden], unpacked level by level."""
    levels = np.empty((*plane.levels.shape[:2], BLOCK))
    levels[..., 0::2] = (plane.levels & 15).astype(np.float64) - 8
    levels[..., 1::2] = (plane.levels >> 4).astype(np.float64) - 8
    wide = (levels * plane.scale[..., None].astype(np.float64)).reshape(plane.shape.rows, -1)
    return np.asarray(wide * plane.column_scale)[:, : plane.shape.hidden]


def test_a_plane_rebuilds_the_weights_within_four_bits(path: Path, rows: WeightRows) -> None:
    plane = read_plane(path, SHAPE)
    weights = rows.block(0, ROWS).astype(np.float64)
    missing = rebuilt(plane) - weights
    # Columns of every size keep their own digits; 0.094 is the error of 4 bits on normal weights.
    for columns in (np.s_[:, ::50], np.s_[:, 1:50]):
        relative = np.linalg.norm(missing[columns]) / np.linalg.norm(weights[columns])
        assert 0.05 < relative < 0.12
    assert not np.isin(plane.levels.reshape(ROWS, -1)[:, HIDDEN // 2 :], 0x88, invert=True).any()


def test_levels_are_packed_first_column_low() -> None:
    levels = np.array([-8, 7, 0, -1], np.int8)
    assert packed(levels).tolist() == [0xF0, 0x78]


def test_the_scale_is_the_least_squares_fit_of_the_levels() -> None:
    block = np.random.default_rng(1).standard_t(4, (50, 3, BLOCK)).astype(np.float32)
    quantised = quantise(block)
    levels = quantised.levels.astype(np.float64)
    best = (block * levels).sum(axis=2) / (levels**2).sum(axis=2)
    assert np.allclose(quantised.scale, best, rtol=1e-5)
    assert quantised.levels.min() == -8


def test_blocks_of_zeros_and_of_tiny_and_huge_weights_stay_finite() -> None:
    block = np.zeros((1, 4, BLOCK), np.float32)
    block[0, 1, 3] = 1e-38
    block[0, 2] = 2.0**120
    block[0, 3, 5] = -(2.0**120)
    quantised = quantise(block)
    assert np.isfinite(quantised.scale).all()
    assert not quantised.levels[0, :2].any()
    levels = quantised.levels[0, 2:].astype(np.float32)
    values = levels * quantised.scale[0, 2:, None]
    assert np.allclose(values, block[0, 2:], rtol=0.1)


def test_several_blocks_of_rows_store_the_same(
    tmp_path: Path, path: Path, rows: WeightRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compact_build, "_AT_ONCE", 7 * HIDDEN)
    build_plane(tmp_path / "other", rows, SHAPE)
    assert (tmp_path / "other").read_bytes() == path.read_bytes()


def test_a_flipped_bit_anywhere_that_matters_is_found(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    assert len(whole) == SHAPE.size
    parts = (SHAPE.column_offset, SHAPE.scale_offset, SHAPE.level_offset)
    for offset in (0, 9, 20, 70, *parts, len(whole) - 1):
        damaged = bytearray(whole)
        damaged[offset] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(PlaneDamaged):
            read_plane(path, SHAPE)


@pytest.mark.parametrize("size", [0, 10, 88, 4096, -1])
def test_a_truncated_file_is_refused(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(PlaneDamaged):
        read_plane(path, SHAPE)


@pytest.mark.parametrize(
    "other",
    [
        PlaneShape(ROWS, HIDDEN, b"t" * 32),
        PlaneShape(ROWS - 1, HIDDEN, b"s" * 32),
        PlaneShape(ROWS, HIDDEN - 1, b"s" * 32),
    ],
)
def test_a_plane_of_other_weights_is_refused(path: Path, other: PlaneShape) -> None:
    with pytest.raises(PlaneDamaged, match="not that of these weights"):
        read_plane(path, other)


def test_weights_that_are_not_finite_name_their_row_and_leave_no_file(tmp_path: Path) -> None:
    weights = np.zeros((ROWS, HIDDEN), np.float32)
    weights[217, 3] = np.nan
    rows = write_rows(tmp_path / "w", weights)
    with pytest.raises(WeightsNotFinite, match="row 217"):
        build_plane(tmp_path / "compact-v1", rows, SHAPE)
    assert [entry.name for entry in tmp_path.iterdir()] == ["w"]


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Files of this process end at ``size`` bytes; beyond, writing fails as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_without_room_is_a_typed_error_and_leaves_no_file(
    tmp_path: Path, rows: WeightRows
) -> None:
    with largest_file(SHAPE.size // 2), pytest.raises(PlaneNotStored) as caught:
        build_plane(tmp_path / "compact-v1", rows, SHAPE)
    assert (caught.value.code, caught.value.size) == ("plane_not_stored", SHAPE.size)
    assert "--lm-head full" in str(caught.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["w"]
