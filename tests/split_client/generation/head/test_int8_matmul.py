from pathlib import Path

import numpy as np
import pytest

from split_client.generation.head import int8_matmul
from split_client.generation.head.int8_matmul import (
    STREAMED_TILE,
    integer_products,
    preferred_tile,
)


def expected_products(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    wide = np.einsum("tkj,pk->ptj", matrix.astype(np.int64), rows.astype(np.int64))
    return wide.reshape(2, -1)


@pytest.mark.parametrize("tiles", [1, 2, 5])
@pytest.mark.parametrize("hidden", [1, 3, 64, 897])
def test_products_equal_wide_integer_arithmetic(tiles: int, hidden: int) -> None:
    rng = np.random.default_rng(hidden)
    matrix = rng.integers(-127, 128, (tiles, hidden, STREAMED_TILE), dtype=np.int8)
    rows = rng.integers(0, 128, (2, hidden), dtype=np.uint8)
    first, second = integer_products(matrix, threads=2)(rows)
    found = np.stack([first.reshape(-1), second.reshape(-1)])
    assert np.array_equal(found, expected_products(matrix, rows))


@pytest.mark.parametrize("tiles", [1, 3])
@pytest.mark.parametrize("sign", [127, -127])
def test_the_largest_operands_do_not_saturate(tiles: int, sign: int) -> None:
    matrix = np.full((tiles, 4096, STREAMED_TILE), sign, dtype=np.int8)
    rows = np.full((2, 4096), 127, dtype=np.uint8)
    first, second = integer_products(matrix, threads=1)(rows)
    assert set(first.reshape(-1).tolist()) == {127 * sign * 4096}
    assert np.array_equal(first, second)


@pytest.fixture
def cpu_info(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the system describes the processor, which is not there yet."""
    path = tmp_path / "cpuinfo"
    monkeypatch.setattr(int8_matmul, "_CPU_INFO", path)
    return path


@pytest.mark.usefixtures("cpu_info")
def test_machines_without_the_streaming_kernel_get_one_whole_tile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(int8_matmul.platform, "machine", lambda: "arm64")
    assert preferred_tile(1000) == 1024
    monkeypatch.setattr(int8_matmul.platform, "machine", lambda: "AMD64")
    assert preferred_tile(1000) == STREAMED_TILE


@pytest.mark.parametrize(
    ("flags", "tile"), [("fpu avx512_vnni amx_tile amx_int8", 1024), ("fpu amx_int8x", 128)]
)
def test_processors_with_amx_get_one_whole_tile(
    cpu_info: Path, monkeypatch: pytest.MonkeyPatch, flags: str, tile: int
) -> None:
    monkeypatch.setattr(int8_matmul.platform, "machine", lambda: "x86_64")
    cpu_info.write_text(f"processor\t: 0\nflags\t\t: {flags}\n")
    assert preferred_tile(1000) == tile
