"""Places of results, the fewest bytes that travel, and the checks of a peer's packing."""

from __future__ import annotations

import numpy as np
import pytest

from split_he import wire
from split_he.errors import MalformedPacking, UnsupportedShape
from split_he.host import plaintexts
from split_he.layout import Packing, packing
from split_he.params import N


def test_the_shape_of_the_bars_needs_six_ciphertexts_up_and_four_down() -> None:
    plan = packing(1536, 32)
    assert (plan.chunks, plan.chunk, plan.groups) == (6, 256, 4)
    assert wire.query_bytes(plan) == 6 * 13_824 + 40
    assert wire.reply_bytes(plan) == 8 * 13_824 + 8


@pytest.mark.parametrize(("hidden", "rank"), [(1, 1), (192, 16), (2049, 3), (8192, 64), (777, 13)])
def test_no_other_number_of_chunks_needs_fewer_bytes(hidden: int, rank: int) -> None:
    plan = packing(hidden, rank)
    everything = []
    for chunk in range(1, min(hidden, N) + 1):
        everything.append(-(-hidden // chunk) + 2 * -(-rank // (N // chunk)))
    assert plan.chunks + 2 * plan.groups == min(everything)
    assert plan.chunks * plan.chunk >= hidden
    assert sum(len(plan.used(group)) for group in range(plan.groups)) == rank


@pytest.mark.parametrize(("hidden", "rank"), [(30, 5), (2048, 3), (2000, 40), (4097, 2)])
def test_negacyclic_products_hold_the_inner_products(hidden: int, rank: int) -> None:
    plan = packing(hidden, rank, weight_scale=1.0)
    rng = np.random.default_rng(0)
    a, h = rng.integers(-9, 10, (rank, hidden)), rng.integers(-9, 10, hidden)
    rows = plaintexts(a.astype(np.float64), plan)
    padded = np.zeros(plan.chunks * plan.chunk, dtype=np.int64)
    padded[:hidden] = h
    found: list[int] = []
    for group in range(plan.groups):
        total = np.zeros(2 * N, dtype=np.int64)
        for j, chunk in enumerate(padded.reshape(plan.chunks, plan.chunk)):
            total[: N + plan.chunk - 1] += np.convolve(rows[group, j], chunk)
        found += (total[:N] - total[N:])[plan.used(group)].tolist()
    assert found == (a @ h).tolist()


@pytest.mark.parametrize(("hidden", "rank"), [(0, 1), (8193, 1), (1, 0), (1, 65), (-1, -1)])
def test_other_shapes_are_refused(hidden: int, rank: int) -> None:
    with pytest.raises(UnsupportedShape):
        packing(hidden, rank)


def test_a_packing_travels_as_plain_numbers() -> None:
    plan = packing(192, 16, 2.0**20 * 1.1, 2.0**23, 99.5)
    assert Packing.parse(plan.document()) == plan


@pytest.mark.parametrize(
    "change",
    [
        {"chunks": 7}, {"groups": 2}, {"chunk": 0}, {"hidden": "192"}, {"hidden": True},
        {"input_scale": float("nan")}, {"weight_scale": 0.0}, {"norm_bound": float("inf")},
        {"input_scale": 2.0**60}, {"norm_bound": -1.0}, {"extra": 1}, {"weight_scale": 1},
    ],
)  # fmt: skip
def test_a_packing_that_contradicts_itself_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(MalformedPacking):
        Packing.parse({**packing(192, 16).document(), **change})


def test_a_packing_with_a_missing_field_or_an_impossible_shape_is_refused() -> None:
    document = packing(192, 16).document()
    with pytest.raises(UnsupportedShape):
        Packing.parse({**document, "rank": 65})
    del document["chunk"]
    with pytest.raises(MalformedPacking):
        Packing.parse(document)
