"""All places of a message jointly: a beam over contexts forward, then backward (Bahl et al. 1974).

Each place's answer is the token with the largest sum over all paths that the beam kept, which
makes the expected number of right tokens the largest. Paths that end in the same last tokens are
one context; the best of them stands for all where a prior looks farther back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from scripts.bench.outside.counts import Floats, Keys

_SPREAD = 8
State = TypeVar("State")


class Prior(Protocol[State]):
    """What text is likely, token by token. A ``State`` has what S contexts need."""

    def single(self) -> Floats:
        """Probabilities [V] without any context."""
        ...

    def start(self) -> tuple[Keys, State]:
        """The one context before a message; equal keys are the same context."""
        ...

    def behind(self, state: State, tokens: NDArray[np.int64]) -> Floats:
        """Probabilities [S, len(tokens)]."""
        ...

    def ends(self, state: State) -> Floats:
        """Probabilities [S] that the message ends here."""
        ...

    def keys(self, state: State, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> Keys:
        """The contexts that ``tokens`` [n] behind those of ``rows`` [n] lead to."""
        ...

    def step(self, state: State, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> State:
        """The state of ``tokens`` [n] behind the contexts of ``rows`` [n]."""
        ...


@dataclass(frozen=True, slots=True)
class Beam:
    """``contexts`` that are kept at a place, none ``far`` less likely (in logarithms) than the
    best, and ``tokens`` that are considered there.
    """

    contexts: int = 400
    tokens: int = 800
    far: float = 25.0


@dataclass(frozen=True, slots=True)
class _Step:
    """Transitions that were kept: from, token, to, and the weight in logarithms."""

    before: NDArray[np.int64]
    tokens: NDArray[np.int64]
    after: NDArray[np.int64]
    weights: Floats


def marginals(evidence: Floats, prior: Prior[State], beam: Beam) -> list[dict[int, float]]:
    """For each row of ``evidence`` [n, V] what each token that was kept is likely to be."""
    steps, scores, behind = _forward(evidence, prior, beam)
    result: list[dict[int, float]] = []
    for step, score in zip(reversed(steps), reversed(scores), strict=True):
        whole = score[step.before] + step.weights + behind[step.after]
        mass = np.exp(whole - whole.max())
        tokens, place = np.unique(step.tokens, return_inverse=True)
        sums = np.bincount(place, mass) / mass.sum()
        result.append(dict(zip(tokens.tolist(), sums.tolist(), strict=True)))
        behind = _log_sums(step.weights + behind[step.after], step.before, len(score))
    return result[::-1]


def _forward(
    evidence: Floats, prior: Prior[State], beam: Beam
) -> tuple[list[_Step], list[Floats], Floats]:
    """The steps, the scores of the contexts before each, and how likely the last ones end."""
    steps: list[_Step] = []
    scores: list[Floats] = []
    score = np.zeros(1)
    _, state = prior.start()
    single = np.log(prior.single())
    for row in evidence:
        tokens = _candidates(row + single, beam.tokens)
        weights = np.log(prior.behind(state, tokens)) + row[tokens]
        scores.append(score)
        best = _best(score[:, None] + weights, beam)
        before, column = np.divmod(best, len(tokens))
        keys = prior.keys(state, before, tokens[column])
        whole = (score[:, None] + weights).ravel()[best]
        kept, new, score = _merged(keys, whole, beam.contexts)
        alive = new >= 0
        steps.append(
            _Step(before[alive], tokens[column][alive], new[alive], weights.ravel()[best][alive])
        )
        state = prior.step(state, before[kept], tokens[column[kept]])
    return steps, scores, np.log(prior.ends(state))


def _candidates(scores: Floats, count: int) -> NDArray[np.int64]:
    if count >= len(scores):
        return np.flatnonzero(np.isfinite(scores))
    best = np.argpartition(-scores, count)[:count]
    return np.sort(best[np.isfinite(scores[best])])


def _best(whole: Floats, beam: Beam) -> NDArray[np.int64]:
    """The flat places of the transitions that are looked at."""
    flat = whole.ravel()
    most = min(_SPREAD * beam.contexts, len(flat))
    best = np.argpartition(-flat, most - 1)[:most]
    found: NDArray[np.int64] = best[flat[best] > flat.max() - beam.far]
    return found


def _merged(
    keys: Keys, whole: Floats, count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """The ``count`` best contexts: the best transition to each, where each transition leads (-1:
    to none that is kept), and their scores.
    """
    reached, place = np.unique(keys, return_inverse=True)
    sums = _log_sums(whole, place, len(reached))
    kept = np.sort(np.argsort(-sums)[:count])
    new = np.full(len(reached), -1)
    new[kept] = np.arange(len(kept))
    order = np.argsort(whole)
    first = np.zeros(len(reached), np.int64)
    first[place[order]] = order
    return first[kept], new[place], sums[kept]


def _log_sums(values: Floats, groups: NDArray[np.int64], count: int) -> Floats:
    """The logarithm of the sum of exponentials in each group; -inf where there is none."""
    top = values.max()
    with np.errstate(divide="ignore"):
        found: Floats = np.log(np.bincount(groups, np.exp(values - top), count)) + top
    return found
