import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from transformers import (
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from scripts.vectors.run import build, render
from split_client.generation.head.ranking import rank_all
from split_client.generation.sampling.draw import kept_weights, pick, uniform
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.processors import adjusted, affected_tokens

ROOT = Path(__file__).parents[4]
VECTORS = json.loads((ROOT / "tests/vectors/sampling.json").read_text())


def test_uniform_draws_follow_their_definition() -> None:
    digest = hashlib.sha256(struct.pack("<QQ", 7, 2**40)).digest()
    bits = "".join(f"{byte:08b}" for byte in digest)[:53]
    assert uniform(7, 2**40) == int(bits, 2) / 2**53


def test_uniform_draws_are_uniform() -> None:
    draws = np.array([uniform(1, index) for index in range(20_000)])
    counts = np.histogram(draws, bins=50, range=(0, 1))[0]
    chi_square = ((counts - 400) ** 2 / 400).sum()
    assert 20 < chi_square < 94  # 49 degrees of freedom, p = 1e-4 at either end
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.03


@given(
    seed=st.integers(0, 1000),
    temperature=st.floats(0.2, 3),
    top_k=st.integers(0, 40),
    top_p=st.floats(0.05, 1),
    min_p=st.floats(0, 0.5),
)
def test_the_filters_keep_what_hugging_face_keeps(
    seed: int, temperature: float, top_k: int, top_p: float, min_p: float
) -> None:
    params = SamplingParams(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    logits = np.random.default_rng(seed).standard_normal(40) * 3
    scores = torch.from_numpy(logits)[None]
    ids = torch.zeros((1, 1), dtype=torch.long)
    scores = TemperatureLogitsWarper(temperature)(ids, scores)
    if top_k:
        scores = TopKLogitsWarper(top_k)(ids, scores)
    if top_p < 1:
        # Sums run in opposite directions: leave out what hangs on their last bits.
        cumulated = scores[0].sort(descending=True).values.softmax(0).cumsum(0)
        assume(bool(((cumulated - top_p).abs() > 1e-9).all()))
        scores = TopPLogitsWarper(top_p)(ids, scores)
    if min_p > 0:
        scores = MinPLogitsWarper(min_p)(ids, scores)
    expected = scores[0].softmax(0).numpy()

    ranked_ids, ranked = rank_all(logits, 40)
    weights = kept_weights(ranked, params)
    found = np.zeros(40)
    found[ranked_ids[: weights.size]] = weights / weights.sum()
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_draw_is_the_first_candidate_whose_sum_exceeds_it() -> None:
    weights = np.array([1.0, 0.5, 0.5])
    assert [pick(weights, u) for u in (0.0, 0.49, 0.5, 0.74, 0.75, 1 - 2**-53)] == [
        0,
        0,
        1,
        1,
        2,
        2,
    ]


def test_candidates_without_weight_are_never_drawn() -> None:
    assert pick(np.array([1.0, 1e-300, 0.0, 0.0]), 1 - 2**-53) == 0
    assert pick(np.array([1.0, 1.0, 0.0]), 1 - 2**-53) == 1


def test_the_smallest_temperature_keeps_the_first_of_equals() -> None:
    params = SamplingParams(temperature=5e-324)
    assert kept_weights(np.array([3.0, 3.0, 2.0]), params).tolist() == [1, 1, 0]


@pytest.mark.parametrize("case", VECTORS["uniform"])
def test_shared_vectors_of_uniform_draws(case: dict[str, Any]) -> None:
    assert uniform(int(case["seed"]), int(case["draw_index"])) == case["u"]


@pytest.mark.parametrize("case", VECTORS["filter"], ids=lambda case: case["name"])
def test_shared_vectors_of_filters(case: dict[str, Any]) -> None:
    params = SamplingParams(**case["params"])
    ids, ranked = rank_all(np.array(case["logits"]), len(case["logits"]))
    weights = kept_weights(ranked, params)
    assert ids[: weights.size].tolist() == case["ids"]
    assert np.allclose(weights / weights.sum(), case["probabilities"], rtol=1e-11)


@pytest.mark.parametrize("case", VECTORS["pick"], ids=lambda case: case["name"])
def test_shared_vectors_of_whole_choices(case: dict[str, Any]) -> None:
    stated = dict(case["params"])
    bias = {int(token): value for token, value in stated.pop("logit_bias", {}).items()}
    params = SamplingParams(**stated, logit_bias=bias)
    logits = np.array(case["logits"])
    affected = affected_tokens(params, case["prompt"], case["generated"])
    own = logits[affected.ids].astype(np.float32)
    logits[affected.ids] = adjusted(params, affected, own)
    ids, ranked = rank_all(logits, logits.size)
    weights = kept_weights(ranked, params)
    chosen = [
        int(ids[pick(weights, uniform(int(case["seed"]), index))])
        for index in range(len(case["token_ids"]))
    ]
    assert chosen == case["token_ids"]


def test_the_vectors_on_disk_are_those_that_the_script_makes() -> None:
    assert (ROOT / "tests/vectors/sampling.json").read_text() == render(build("sampling"))
