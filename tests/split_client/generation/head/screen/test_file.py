from pathlib import Path

import numpy as np
import pytest

from split_client.generation.errors import ScreenDamaged, WeightsNotFinite
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.screen import build as screen_build
from split_client.generation.head.screen.build import build_screen, column_scales, quantise
from split_client.generation.head.screen.file import ScreenShape, read_screen
from tests.split_client.generation.weights import write_rows

SHAPE = ScreenShape(rows=300, hidden=24, tile=128, source=b"s" * 32)


@pytest.fixture
def rows(tmp_path: Path) -> WeightRows:
    weights = np.random.default_rng(0).standard_normal((300, 24), dtype=np.float32)
    return write_rows(tmp_path / "w", weights)


@pytest.fixture
def screen(tmp_path: Path, rows: WeightRows) -> Path:
    build_screen(tmp_path / "screen-v1", rows, SHAPE)
    return tmp_path / "screen-v1"


@pytest.mark.parametrize("tile", [128, 384])
def test_stored_rows_rebuild_the_weights_within_their_error(
    tmp_path: Path, rows: WeightRows, tile: int
) -> None:
    shape = ScreenShape(300, 24, tile, b"s" * 32)
    build_screen(tmp_path / "screen-v1", rows, shape)
    tables = read_screen(tmp_path / "screen-v1", shape)
    q = tables.matrix.transpose(0, 2, 1).reshape(-1, 24).astype(np.float64)
    assert not q[300:].any()
    assert np.array_equal(q.sum(axis=1), tables.total)
    scaled = q * tables.scale[:, None]
    missing = rows.block(0, 300) / tables.column_scale.astype(np.float64) - scaled[:300]
    assert (np.linalg.norm(missing, axis=1) <= tables.error[:300]).all()
    assert (np.linalg.norm(scaled, axis=1) <= tables.norm).all()
    assert (tables.error[:300] <= 0.5 * tables.scale[:300] * np.sqrt(24)).all()


def test_both_layouts_and_several_blocks_store_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: WeightRows
) -> None:
    columns = []
    for tile, block in ((128, 128), (128, 2048), (384, 128)):
        monkeypatch.setattr(screen_build, "_BLOCK", block)
        shape = ScreenShape(300, 24, tile, b"s" * 32)
        build_screen(tmp_path / "screen-v1", rows, shape)
        tables = read_screen(tmp_path / "screen-v1", shape)
        columns.append(tables.matrix.transpose(0, 2, 1).reshape(-1, 24))
    assert np.array_equal(columns[0], columns[1])
    assert np.array_equal(columns[0], columns[2])


def test_a_flipped_bit_anywhere_that_matters_is_found(screen: Path) -> None:
    whole = bytearray(screen.read_bytes())
    for offset in (0, 9, 70, 4096, SHAPE.offset("error"), SHAPE.offset("matrix"), len(whole) - 1):
        damaged = bytearray(whole)
        damaged[offset] ^= 4
        screen.write_bytes(damaged)
        with pytest.raises(ScreenDamaged):
            read_screen(screen, SHAPE)


@pytest.mark.parametrize("size", [0, 10, 88, 4096, -1])
def test_a_truncated_file_is_refused(screen: Path, size: int) -> None:
    screen.write_bytes(screen.read_bytes()[:size])
    with pytest.raises(ScreenDamaged):
        read_screen(screen, SHAPE)


@pytest.mark.parametrize(
    "other",
    [
        ScreenShape(300, 24, 128, b"t" * 32),
        ScreenShape(299, 24, 128, b"s" * 32),
        ScreenShape(300, 23, 128, b"s" * 32),
        ScreenShape(300, 24, 384, b"s" * 32),
    ],
)
def test_a_screen_of_other_weights_is_refused(screen: Path, other: ScreenShape) -> None:
    with pytest.raises(ScreenDamaged, match="not that of these weights"):
        read_screen(screen, other)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScreenDamaged, match="cannot be read"):
        read_screen(tmp_path / "none", SHAPE)


def test_weights_that_are_not_finite_name_their_row_and_leave_no_file(tmp_path: Path) -> None:
    weights = np.zeros((300, 24), np.float32)
    weights[217, 3] = np.inf
    rows = write_rows(tmp_path / "w", weights)
    with pytest.raises(WeightsNotFinite, match="row 217"):
        build_screen(tmp_path / "screen-v1", rows, SHAPE)
    assert [path.name for path in tmp_path.iterdir()] == ["w"]


def test_column_scales_are_powers_of_two_that_follow_the_columns(tmp_path: Path) -> None:
    exponents = np.repeat(np.array([0, -3, -9, -40], np.float32), 64)
    sizes = np.float32(2.0) ** exponents
    weights = np.random.default_rng(1).standard_normal((5000, 256), dtype=np.float32) * sizes
    weights[0] = sizes * np.float32(1e30)  # one huge row counts as much as any other
    scales = column_scales(write_rows(tmp_path / "w", weights, "f32"))
    assert np.log2(scales).tolist() == np.maximum(exponents, -20).tolist()


def test_rows_of_zeros_leave_the_columns_as_they_are(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "w", np.zeros((9, 3), np.float32))
    assert column_scales(rows).tolist() == [1, 1, 1]


def test_rows_too_small_or_too_large_for_a_scale_keep_everything_as_error() -> None:
    block = np.array([[1e-38, 0], [3e38, 1], [0, 0]], np.float32)
    quantised = quantise(block, np.array([2.0**-20, 1], np.float32))
    assert quantised.scale.tolist() == [0, 0, 0]
    assert not quantised.q.any()
    assert quantised.error[0] >= 1e-38 * 2**20
    assert quantised.error[1] == np.inf
