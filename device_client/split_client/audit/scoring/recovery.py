"""The share of the truth that a guess recovers, prompt by prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.guess import Guess

Text = Callable[[Sequence[int]], str]


@dataclass(frozen=True, slots=True)
class Tally:
    """Of one text: tokens right at once and among five, the whole text, sensitive strings."""

    tokens: int
    top1: int
    top5: int
    exact: bool
    strings: int
    found: int


def tally(guess: Guess, truth: Sequence[int], sensitive: Sequence[str], text: Text) -> Tally:
    """Compare; ``text`` turns ids into what a person reads."""
    wanted = np.asarray(truth, dtype=np.int64)[:, None]
    hits = guess.ranked == wanted
    top1 = int(hits[:, 0].sum())
    read = text(guess.tokens) if sensitive else ""
    found = sum(part in read for part in sensitive)
    exact = guess.tokens == list(truth)
    return Tally(len(truth), top1, int(hits.any(axis=1).sum()), exact, len(sensitive), found)


def columns(tallies: Sequence[Tally]) -> dict[str, NDArray[np.float64]]:
    """Numerators and denominators of every measure, [prompts, 2]."""
    pairs = {
        "top1": [(one.top1, one.tokens) for one in tallies],
        "top5": [(one.top5, one.tokens) for one in tallies],
        "exact": [(one.exact, 1) for one in tallies],
        "sensitive": [(one.found, one.strings) for one in tallies],
    }
    return {name: np.array(pair, dtype=np.float64) for name, pair in pairs.items()}
