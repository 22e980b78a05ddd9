"""Vectors of seeded sampling; their layout is described in tests/vectors/README.md."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.ranking import rank_all
from split_client.generation.sampling.draw import kept_weights, pick, uniform
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.processors import adjusted, affected_tokens

VOCABULARY = 24
DRAWS = 16
# Exponentials differ in their last bits between platforms; no vector may hang on them.
MARGIN = 1e-9

SEEDS = [(0, 0), (0, 1), (1, 0), (42, 7), (2**53 + 1, 3), (2**64 - 1, 2**64 - 1), (123, 10**12)]

FILTERS: dict[str, dict[str, Any]] = {
    "no filter": {},
    "temperature below one": {"temperature": 0.3},
    "temperature above one": {"temperature": 4.0},
    "top-k": {"top_k": 5},
    "top-k beyond the vocabulary": {"top_k": 100},
    "top-p": {"top_p": 0.8},
    "top-p keeps at least one": {"top_p": 0.001},
    "min-p": {"min_p": 0.1},
    "min-p of one keeps the first and its equals": {"min_p": 1.0},
    "all filters in order": {"temperature": 1.5, "top_k": 12, "top_p": 0.9, "min_p": 0.05},
}

CHOICES: dict[str, dict[str, Any]] = {
    "plain": {"temperature": 1.0},
    "all filters": {"temperature": 0.8, "top_k": 10, "top_p": 0.95, "min_p": 0.02},
    "repetition penalty": {"temperature": 1.0, "repetition_penalty": 1.3},
    "repetition penalty below one": {"temperature": 0.5, "repetition_penalty": 0.7},
    "presence and frequency": {
        "temperature": 1.0,
        "presence_penalty": 0.6,
        "frequency_penalty": 0.4,
        "top_p": 0.9,
    },
    "bias": {"temperature": 1.0, "logit_bias": {3: 4.0, 11: -100.0}},
    "everything": {
        "temperature": 0.9,
        "top_k": 8,
        "top_p": 0.9,
        "min_p": 0.01,
        "repetition_penalty": 1.1,
        "presence_penalty": 0.2,
        "frequency_penalty": 0.1,
        "logit_bias": {0: 1.5, 5: -2.0},
    },
}


def build() -> dict[str, Any]:
    return {"format": 1, "uniform": _uniform(), "filter": _filters(), "pick": _choices()}


def _uniform() -> list[dict[str, Any]]:
    # 64-bit numbers are strings: a JavaScript number holds 53 bits.
    return [
        {"seed": str(seed), "draw_index": str(index), "u": uniform(seed, index)}
        for seed, index in SEEDS
    ]


def _logits(seed: int) -> NDArray[np.float64]:
    """Short float32 numbers with some ties, so that JSON carries them exactly."""
    logits = np.random.default_rng(seed).standard_normal(VOCABULARY) * 2
    logits = np.rint(logits * 256) / 256
    logits[[4, 9, 17]] = logits.max()
    return logits


def _filters() -> list[dict[str, Any]]:
    cases = []
    for number, (name, stated) in enumerate(FILTERS.items()):
        params = SamplingParams(**{"temperature": 1.0, **stated})
        logits = _logits(100 + number)
        ids, ranked = rank_all(logits, VOCABULARY)
        weights = kept_weights(ranked, params)
        for shift in (-MARGIN, MARGIN):
            nearby = kept_weights(ranked * (1 + shift), params)
            assert nearby.size == weights.size, f"{name} hangs on rounding"
        probabilities = [float(f"{p:.12g}") for p in weights / weights.sum()]
        cases.append(
            {
                "name": name,
                "params": {"temperature": 1.0, **stated},
                "logits": logits.tolist(),
                "ids": ids[: weights.size].tolist(),
                "probabilities": probabilities,
            }
        )
    return cases


def _choices() -> list[dict[str, Any]]:
    return [_choice(name, stated, 200 + i) for i, (name, stated) in enumerate(CHOICES.items())]


def _choice(name: str, stated: dict[str, Any], seed: int) -> dict[str, Any]:
    params = SamplingParams(**stated)
    prompt, generated = [1, 2, 3, 2], [3, 4, 4, 9, 4]
    logits = _logits(seed)
    affected = affected_tokens(params, prompt, generated)
    changed = logits.copy()
    changed[affected.ids] = adjusted(params, affected, logits[affected.ids].astype(np.float32))
    ids, ranked = rank_all(changed, VOCABULARY)
    weights = kept_weights(ranked, params)
    cumulated = np.cumsum(weights) / weights.sum()
    draws = [uniform(seed, index) for index in range(DRAWS)]
    distance = min(float(np.abs(cumulated - u).min()) for u in draws)
    assert distance > MARGIN, f"{name} hangs on rounding"
    return {
        "name": name,
        "params": stated,
        "seed": str(seed),
        "prompt": prompt,
        "generated": generated,
        "logits": logits.tolist(),
        "token_ids": [int(ids[pick(weights, u)]) for u in draws],
    }
