"""Rows and language together: a beam over token sequences, and a single pass over noised states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.guess import Guess, best, ranked
from split_client.audit.attacks.language import LanguagePrior

# Hypotheses that are this many nats worse than the best one hardly ever win later.
_HOPELESS = 12.0


@dataclass(frozen=True, slots=True)
class _Hypothesis:
    tokens: tuple[int, ...]
    score: float
    ranks: tuple[NDArray[np.int64], ...] = ()


def beam_search(
    likelihoods: NDArray[np.float64], prior: LanguagePrior, prefix: list[int], width: int
) -> Guess:
    """The likeliest tokens of a message, given its rows' log-likelihoods [n, V] and the prior.

    ``prefix``: ids that are known to stand before it. All-zero likelihoods leave the prior alone.
    The ranking at a position is that of the best hypothesis, given its own beginning. What may
    follow the hypotheses of a position is scored in one product.
    """
    beam = [_Hypothesis(tuple(prefix), 0.0)]
    for likelihood in likelihoods:
        # Scores of one position are compared across parents, so nothing is normalised away.
        scores = likelihood + prior.after([parent.tokens for parent in beam])
        grown = [
            child
            for parent, each in zip(beam, scores, strict=True)
            for child in _children(parent, each, width)
        ]
        grown.sort(key=lambda child: (-child.score, child.tokens))
        beam = [c for c in grown[:width] if c.score >= grown[0].score - _HOPELESS]
    return Guess(np.stack(beam[0].ranks))


def single_pass(likelihoods: NDArray[np.float64], priors: NDArray[np.float64]) -> Guess:
    """The same with priors [n, V] after the recorded rows themselves, which need no guessing."""
    return ranked(likelihoods + priors)


def _children(parent: _Hypothesis, scores: NDArray[np.float64], width: int) -> list[_Hypothesis]:
    order = best(scores)
    children = []
    for token in order[:width]:
        rank = np.concatenate([[token], order[order != token]])
        children.append(
            _Hypothesis(
                (*parent.tokens, int(token)),
                parent.score + float(scores[token]),
                (*parent.ranks, rank),
            )
        )
    return children
