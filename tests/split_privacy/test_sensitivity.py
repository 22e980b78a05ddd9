"""How far two rows of a clipped table are apart: found without looking at every pair."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from split_privacy.mechanism import clipped
from split_privacy.sensitivity import Rows, largest_distance, norms

Table = NDArray[np.float32]
Make = Callable[[np.random.Generator, int, int], Table]


def of(rows: Table) -> Rows:
    return lambda ids: rows[ids]


def all_pairs(rows: Table, clip: float) -> float:
    short = clipped(rows, clip)
    return max(float(np.linalg.norm(short - row, axis=1).max()) for row in short)


def trained(rng: np.random.Generator, count: int, width: int) -> Table:
    """As a trained table: a common part, and lengths of which few are far beyond the others."""
    rows = rng.normal(size=(count, width)) + rng.normal(size=width)
    return (rows * np.exp(0.25 * rng.normal(size=(count, 1)))).astype(np.float32)


def alike(rng: np.random.Generator, count: int, width: int) -> Table:
    """Rows of one length in all directions, of which any two may be the farthest."""
    rows = rng.normal(size=(count, width))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("make", [trained, alike])
@pytest.mark.parametrize("seed", range(4))
def test_the_largest_distance_is_that_of_all_pairs(make: Make, seed: int) -> None:
    rows = make(np.random.default_rng(seed), 700, 12)
    middle = float(np.median(np.linalg.norm(rows, axis=1)))
    for clip in (middle / 2, middle, 10 * middle):
        found, expected = largest_distance(of(rows), 700, 12, clip), all_pairs(rows, clip)
        assert found.exact
        assert expected * (1 - 1e-12) <= found.distance <= min(expected * (1 + 1e-9), 2 * clip)


def test_two_rows_far_apart_are_found_in_whatever_block_they_stand() -> None:
    rows = alike(np.random.default_rng(1), 2100, 8)
    rows[[3, 2050]] = [[9.0] * 8, [-9.0] * 8]
    for clip in (5.0, 100.0):
        assert largest_distance(of(rows), 2100, 8, clip).distance == pytest.approx(
            min(2 * clip, 18 * math.sqrt(8)), rel=1e-9
        )
    assert np.allclose(norms(of(rows), 2100), np.linalg.norm(rows, axis=1))


def test_of_a_trained_table_hardly_more_is_looked_at_than_every_row_a_few_times() -> None:
    rows, read = trained(np.random.default_rng(2), 6000, 32), [0]

    def counted(ids: list[int]) -> Table:
        read[0] += len(ids)
        return rows[ids]

    clip = float(np.quantile(np.linalg.norm(rows, axis=1), 0.99))
    found = largest_distance(counted, 6000, 32, clip, most_products=0.02 * 6000**2 * 32)
    assert found.exact
    assert found.distance == pytest.approx(all_pairs(rows, clip), rel=1e-9)
    assert read[0] < 6 * 6000


@pytest.mark.parametrize("products", [0, 700 * 70 * 12, 20 * 700 * 70 * 12])
def test_a_search_that_is_ended_gives_a_bound_that_no_pair_exceeds(products: float) -> None:
    rows = alike(np.random.default_rng(3), 700, 12)
    truth = all_pairs(rows, 0.9)
    found = largest_distance(of(rows), 700, 12, 0.9, products)
    assert truth <= found.distance <= 1.8
    assert found.exact == (found.distance < truth * (1 + 1e-9))
    off_centre = rows + np.float32(3.0)
    ended = largest_distance(of(off_centre), 700, 12, 1e9, products)
    assert all_pairs(off_centre, 1e9) <= ended.distance < 2.5


def test_equal_rows_one_row_and_rows_of_zeros_are_not_apart() -> None:
    for rows in (np.ones((10, 4)), np.ones((1, 4)), np.zeros((3, 4))):
        found = largest_distance(of(rows.astype(np.float32)), len(rows), 4, 1.0)
        assert found.distance < 1e-6
