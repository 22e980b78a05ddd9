"""The bound holds for every row, whatever the rows, the state and the order of summation."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.split_client.generation.weights import open_screen, write_rows

HIDDEN, ROWS = 96, 300


def float32_sums(weights: np.ndarray, hidden: np.ndarray) -> list[np.ndarray]:
    """row . hidden in float32, summed forwards, backwards, by size, and by BLAS."""
    with np.errstate(over="ignore", invalid="ignore"):
        terms = weights * hidden
        return [
            np.cumsum(terms, axis=1, dtype=np.float32)[:, -1],
            np.cumsum(terms[:, ::-1], axis=1, dtype=np.float32)[:, -1],
            np.cumsum(np.sort(terms, axis=1), axis=1, dtype=np.float32)[:, -1],
            weights @ hidden,
        ]


def adversarial_rows(rng: np.random.Generator) -> np.ndarray:
    rows = rng.standard_normal((ROWS, HIDDEN), dtype=np.float32)
    rows[:20] *= np.float32(1e12)
    rows[20:40] *= np.float32(1e-12)
    rows[40:60] = 0
    rows[60:80] = rows[80]
    rows[100:120] = 1
    rows[120:140] = 0
    rows[120:140, 7] = 1e6
    rows[140:160, 3] = 300
    rows[160] = 3e38
    rows[161] = 1e-38
    rows[170:180] = np.float32(1) + rng.standard_normal((10, HIDDEN), dtype=np.float32) * 1e-3
    return rows


def adversarial_states(rng: np.random.Generator, rows: np.ndarray) -> list[np.ndarray]:
    one_outlier = rng.standard_normal(HIDDEN, dtype=np.float32)
    one_outlier[7] = 1e4
    unit = np.zeros(HIDDEN, np.float32)
    unit[3] = 1
    return [
        rng.standard_normal(HIDDEN, dtype=np.float32),
        np.zeros(HIDDEN, np.float32),
        np.ones(HIDDEN, np.float32),
        one_outlier,
        unit,
        rows[80] * 100,
        np.full(HIDDEN, 1e30, np.float32),
        np.full(HIDDEN, 1e-30, np.float32),
    ]


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
@pytest.mark.parametrize("tile", [128, 384])
def test_adversarial_rows_stay_inside_their_bounds(tmp_path: Path, dtype: str, tile: int) -> None:
    rng = np.random.default_rng(5)
    rows = write_rows(tmp_path / "w", adversarial_rows(rng), dtype)  # type: ignore[arg-type]
    screen = open_screen(tmp_path, rows, tile=tile)
    weights = rows.block(0, ROWS)
    for hidden in adversarial_states(rng, weights):
        lower, upper = screen.bounds(hidden)
        exact = weights.astype(np.float64) @ hidden.astype(np.float64)
        # An infinite or undefined bound excludes nothing.
        assert not (exact < lower[:ROWS]).any()
        assert not (exact > upper[:ROWS]).any()
        for product in float32_sums(weights, hidden):
            assert not (product < lower[:ROWS]).any()
            assert not (product > upper[:ROWS]).any()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    hidden_size=st.integers(1, 70),
    spread=st.floats(0, 12),
    state_spread=st.floats(0, 8),
    with_bias=st.booleans(),
)
def test_random_rows_of_wildly_different_sizes_stay_inside_their_bounds(
    seed: int, hidden_size: int, spread: float, state_spread: float, with_bias: bool
) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.standard_normal((50, hidden_size)) * 10 ** rng.uniform(-spread, spread, (50, 1))
    weights *= 10 ** rng.uniform(-spread / 4, spread / 4, hidden_size)
    state = rng.standard_normal(hidden_size) * 10 ** rng.uniform(-state_spread, 2, hidden_size)
    hidden = state.astype(np.float32)
    bias = rng.standard_normal(50).astype(np.float32) * 100 if with_bias else None
    with TemporaryDirectory() as folder:
        rows = write_rows(Path(folder) / "w", weights.astype(np.float32), "f32")
        screen = open_screen(Path(folder), rows, bias=bias)
        lower, upper = (bound[:50] for bound in screen.bounds(hidden))
        for product in float32_sums(rows.block(0, 50), hidden):
            total = product if bias is None else product + bias
            assert ((lower <= total) & (total <= upper)).all()


def test_bounds_are_tight_enough_to_leave_few_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = write_rows(tmp_path / "w", rng.standard_normal((20_000, 256), dtype=np.float32))
    lower, upper = open_screen(tmp_path, rows).bounds(rng.standard_normal(256, dtype=np.float32))
    centre = (lower + upper)[:20_000] / 2
    assert np.abs(upper - lower)[:20_000].max() < 0.5 * centre.std()


def test_outlier_dimensions_do_not_widen_the_bounds(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sizes = np.ones(256, np.float32)
    sizes[[3, 200]] = 2.0**-8
    rows = write_rows(tmp_path / "w", rng.standard_normal((20_000, 256), dtype=np.float32) * sizes)
    hidden = rng.standard_normal(256, dtype=np.float32) / sizes
    lower, upper = open_screen(tmp_path, rows).bounds(hidden)
    centre = (lower + upper)[:20_000] / 2
    assert np.abs(upper - lower)[:20_000].max() < 0.6 * centre.std()
