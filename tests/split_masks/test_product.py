"""A h by way of a mask: the product of the encrypted way, exact modulo Q, and nothing besides."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from split_he import scales
from split_he.device import decrypt_numbers, encrypt_numbers, rounded
from split_he.layout import packing
from split_he.modular import centre, centred
from split_he.params import Q
from split_masks import numbers
from split_masks.device import Hiding
from split_masks.errors import MalformedNumbers, MatrixUnfit
from split_masks.host import HostMatrix, evaluate
from tests.split_he.sessions import matrix, state
from tests.split_masks.masks import Masking

_SHAPES = [(1, 1), (1, 64), (2, 3), (192, 16), (255, 9), (896, 16), (2049, 1), (8192, 64)]


def _signed(values: NDArray[np.int64]) -> list[int]:
    return [int(value) for value in values]


@pytest.mark.parametrize(("hidden", "rank"), _SHAPES)
def test_products_equal_float64_within_the_bounds_of_the_encrypted_way(
    hidden: int, rank: int
) -> None:
    both, h = Masking.of(matrix(hidden, rank)), state(hidden)
    a = both.side.a.astype(np.float64)
    error = both.product(h) - a @ h.astype(np.float64)
    assert (np.abs(error) < scales.worst_error(a, both.side.plan)).all()
    expected = scales.typical_error(a, both.side.plan, float(np.linalg.norm(h)))
    assert (np.abs(error) < 8 * expected).all()


def test_the_error_is_as_large_as_that_of_a_query() -> None:
    both = Masking.of(matrix(600, 24))
    a, ratios = both.side.a.astype(np.float64), []
    for seed in range(12):
        h = state(600, seed)
        spread = scales.typical_error(a, both.side.plan, float(np.linalg.norm(h)))
        ratios.append((both.product(h) - a @ h.astype(np.float64)) / spread)
    assert 0.7 < np.std(ratios) < 1.4


@pytest.mark.parametrize(("hidden", "rank"), [(3, 2), (192, 16), (8192, 4)])
def test_the_hosts_answer_is_exact_modulo_q(hidden: int, rank: int) -> None:
    """Whole numbers of Python as the reference, at the edges of what a device may send."""
    a = matrix(hidden, rank)
    plan = Masking.of(a).side.plan
    made = HostMatrix(a, plan)
    rows = np.rint(a.astype(np.float64) * plan.weight_scale).astype(np.int64)
    draw = np.random.default_rng(2)
    kept = draw.integers(0, Q, rank, dtype=np.uint64)
    for values in (
        np.zeros(hidden, np.uint64),
        np.full(hidden, Q - 1, np.uint64),
        np.where(rows[0] > 0, Q - 1, 0).astype(np.uint64),
        draw.integers(0, Q, hidden, dtype=np.uint64),
    ):
        found = numbers.unpack(made.answer(numbers.pack(values), kept), rank)
        for p in range(rank):
            exact = sum(x * y for x, y in zip(_signed(rows[p]), map(int, values), strict=True))
            assert int(found[p]) == (exact - int(kept[p])) % Q


def test_a_mask_and_its_answer_are_one_reply_to_the_sum_of_both_messages() -> None:
    """What the security argument rests on: query and h - r add up to a query of h."""
    both = Masking.of(matrix(100, 3))
    side, plan = both.side, both.side.plan
    mask, kept = both.mask()
    fixed = rounded(state(100), plan)
    answer = both.matrix.answer(mask.masked(fixed), kept)
    by_mask = centre(mask.share + centred(numbers.unpack(answer, 3)))
    query = encrypt_numbers(fixed, side.keys, plan)
    by_query = decrypt_numbers(side.adapter.evaluate(query, side.host_key), side.keys, plan)
    # Errors of both: far below a result, and of one size.
    rows = np.rint(side.a.astype(np.float64) * plan.weight_scale)
    worst = scales.worst_error(side.a.astype(np.float64), plan) * plan.scale
    for found in (by_mask, by_query):
        assert (np.abs(found - rows @ fixed) < worst).all()
        assert np.abs(found).max() > 1e3 * np.abs(found - rows @ fixed).max()


def test_a_state_at_the_bound_along_the_longest_row_does_not_wrap() -> None:
    both = Masking.of(matrix(192, 16))
    a, plan = both.side.a.astype(np.float64), both.side.plan
    row = a[np.linalg.norm(a, axis=1).argmax()]
    h = (row / np.linalg.norm(row) * plan.norm_bound * (1 - 1e-6)).astype(np.float32)
    assert np.allclose(both.product(h), a @ h.astype(np.float64), rtol=1e-4, atol=1e-3)


def test_a_share_is_another_one_for_the_same_query() -> None:
    """s is drawn for each evaluation: a share tells nothing of A, whatever was encrypted."""
    both = Masking.of(np.full((2, 4), 0.5, np.float32))
    side, plan = both.side, both.side.plan
    query = encrypt_numbers(np.zeros(4, np.int64), side.keys, plan)
    shares = []
    for _ in range(200):
        reply, kept = evaluate(side.adapter, query, side.host_key)
        shares.append(decrypt_numbers(reply, side.keys, plan))
        noise = centre(shares[-1] - centred(kept))
        assert np.abs(noise).max() < Q / 2**10
    spread = np.array(shares) / Q
    assert abs(spread.mean()) < 0.1
    assert 0.26 < spread.std() < 0.32  # uniform from -1/2 to 1/2: 0.289


def test_nothing_of_a_mask_is_drawn_twice() -> None:
    both = Masking.of(matrix(64, 4))
    hidings = [Hiding.draw(both.side.keys, both.side.plan) for _ in range(50)]
    assert len({hiding.query for hiding in hidings}) == 50
    assert len({hiding.r.tobytes() for hiding in hidings}) == 50
    keeps = {both.mask()[1].tobytes() for _ in range(20)}
    assert len(keeps) == 20


def test_masks_show_nothing_of_themselves() -> None:
    both = Masking.of(matrix(8, 2))
    mask, _ = both.mask(3)
    assert str(mask.r[0]) not in repr(mask)
    assert len(repr(mask)) < 120


def test_malformed_states_and_answers_are_refused() -> None:
    both = Masking.of(matrix(8, 2))
    mask, kept = both.mask()
    good = mask.masked(rounded(state(8), both.side.plan))
    for bad in (b"", good[:-1], good + b"\0", b"\xff" * len(good)):
        with pytest.raises(MalformedNumbers):
            both.matrix.answer(bad, kept)
    for bad in (b"", bytes(13), b"\xff" * 14):
        with pytest.raises(MalformedNumbers):
            mask.product(bad)


def test_a_matrix_that_the_estimate_cannot_follow_is_refused() -> None:
    plan = packing(64, 4, 2.0**-40, 2.0**60, 64.0)
    with pytest.raises(MatrixUnfit):
        HostMatrix(matrix(64, 4), plan)
