"""All places of a message jointly: a beam over contexts forward, then backward (Bahl et al. 1974).

Each place's answer is the token with the largest sum over all paths that the beam kept, which
makes the expected number of right tokens the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scripts.bench.outside.counts import Floats
from scripts.bench.outside.prior import Mixture, after

_SPREAD = 8
_FAR = 25.0


@dataclass(frozen=True, slots=True)
class Beam:
    """``contexts`` that are kept at a place, and ``tokens`` that are considered there."""

    contexts: int = 400
    tokens: int = 800


@dataclass(frozen=True, slots=True)
class _Step:
    """Transitions that were kept: from, token, to, and the weight in logarithms."""

    before: NDArray[np.int64]
    tokens: NDArray[np.int64]
    after: NDArray[np.int64]
    weights: Floats


def marginals(evidence: Floats, prior: Mixture, beam: Beam) -> list[dict[int, float]]:
    """For each row of ``evidence`` [n, V] what each token that was kept is likely to be."""
    steps, ahead = _forward(evidence, prior, beam)
    behind = ahead[-1][1]
    result: list[dict[int, float]] = []
    for step, (score, _) in zip(reversed(steps), reversed(ahead[:-1]), strict=True):
        whole = score[step.before] + step.weights + behind[step.after]
        mass = np.exp(whole - whole.max())
        tokens, place = np.unique(step.tokens, return_inverse=True)
        sums = np.bincount(place, mass) / mass.sum()
        result.append(dict(zip(tokens.tolist(), sums.tolist(), strict=True)))
        behind = _log_sums(step.weights + behind[step.after], step.before, len(score))
    return result[::-1]


def _forward(
    evidence: Floats, prior: Mixture, beam: Beam
) -> tuple[list[_Step], list[tuple[Floats, Floats]]]:
    """The steps, and for each place the scores of its contexts and what follows the last."""
    keys, score = prior.start(), np.zeros(1)
    steps: list[_Step] = []
    scores = [score]
    single = np.log(prior.single())
    for row in evidence:
        tokens = _candidates(row + single, beam.tokens)
        weights = np.log(prior.behind(keys, tokens)) + row[tokens]
        step, keys, score = _advance(keys, score, tokens, weights, beam.contexts)
        steps.append(step)
        scores.append(score)
    end = np.log(prior.behind(keys, np.array([prior.end]))[:, 0])
    return steps, [(each, end) for each in scores]


def _candidates(scores: Floats, count: int) -> NDArray[np.int64]:
    if count >= len(scores):
        return np.flatnonzero(np.isfinite(scores))
    best = np.argpartition(-scores, count)[:count]
    return np.sort(best[np.isfinite(scores[best])])


def _advance(
    keys: NDArray[np.uint64],
    score: Floats,
    tokens: NDArray[np.int64],
    weights: Floats,
    count: int,
) -> tuple[_Step, NDArray[np.uint64], Floats]:
    """One place on, with the ``count`` best contexts."""
    whole = (score[:, None] + weights).ravel()
    most = min(_SPREAD * count, len(whole))
    best = np.argpartition(-whole, most - 1)[:most]
    best = best[whole[best] > whole.max() - _FAR]
    before, column = np.divmod(best, len(tokens))
    reached, place = np.unique(after(keys[before], tokens[column]), return_inverse=True)
    sums = _log_sums(whole[best], place, len(reached))
    kept = np.sort(np.argsort(-sums)[:count])
    new = np.full(len(reached), -1)
    new[kept] = np.arange(len(kept))
    alive = new[place] >= 0
    step = _Step(
        before[alive], tokens[column[alive]], new[place[alive]], weights.ravel()[best[alive]]
    )
    return step, reached[kept], sums[kept]


def _log_sums(values: Floats, groups: NDArray[np.int64], count: int) -> Floats:
    """The logarithm of the sum of exponentials in each group; -inf where there is none."""
    top = values.max()
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.bincount(groups, np.exp(values - top), count)) + top
    return found
