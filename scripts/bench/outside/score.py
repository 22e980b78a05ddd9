"""Shares of tokens and of sensitive strings, with an interval over messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scripts.bench.outside.messages import Message

_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Score:
    """Of one noise level: shares from 0 to 1; ``low`` to ``high`` holds 95% of the resamples."""

    tokens: float
    low: float
    high: float
    strings: float
    whole: float


def score(found: list[tuple[Message, list[int]]], seed: int = 0) -> Score:
    """Of each message and the tokens that were guessed for it. Whole messages are resampled."""
    right = np.array([sum(map(int.__eq__, m.tokens, guess)) for m, guess in found])
    lengths = np.array([len(m.tokens) for m, _ in found])
    drawn = np.random.default_rng(seed).integers(0, len(found), (_DRAWS, len(found)))
    shares = right[drawn].sum(1) / lengths[drawn].sum(1)
    low, high = np.quantile(shares, [0.025, 0.975])
    strings = [
        m.tokens[first:stop] == guess[first:stop]
        for m, guess in found
        for first, stop in m.sensitive
    ]
    return Score(
        float(right.sum() / lengths.sum()),
        float(low),
        float(high),
        float(np.mean(strings)),
        float((right == lengths).mean()),
    )
