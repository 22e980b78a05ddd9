"""With a beam that keeps everything, marginals are those of all sequences, written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from scripts.bench.outside.counts import grams_of
from scripts.bench.outside.lattice import Beam, marginals
from scripts.bench.outside.prior import Counts, Mixture

_SIZE, _PLACES = 4, 5
_TEXTS = [[0, 1, 2, 3, 0], [1, 1, 2, 0, 3], [3, 2, 1, 0], [2, 2, 3, 1, 0, 0]]


def _mixture() -> Mixture:
    return Mixture([(1.0, Counts([grams_of(_TEXTS, 1.0, _SIZE, _SIZE + 1)], _SIZE))], _SIZE)


def _written_out(evidence: np.ndarray, prior: Mixture) -> np.ndarray:
    """[n, V], by every sequence that there is."""
    sums = np.zeros((_PLACES, _SIZE))
    for text in product(range(_SIZE), repeat=_PLACES):
        _, state = prior.start()
        weight = 1.0
        for place, token in enumerate(text):
            tokens = np.array([token])
            weight *= float(prior.behind(state, tokens)[0, 0]) * np.exp(evidence[place, token])
            state = prior.step(state, np.array([0]), tokens)
        weight *= float(prior.ends(state)[0])
        sums[np.arange(_PLACES), text] += weight
    return sums / sums.sum(1, keepdims=True)


def test_marginals_are_the_shares_of_all_sequences() -> None:
    evidence = np.random.default_rng(3).normal(size=(_PLACES, _SIZE))
    found = marginals(evidence, _mixture(), Beam(contexts=2000, tokens=10, far=100.0))
    expected = _written_out(evidence, _mixture())
    for place, shares in enumerate(found):
        assert [shares[token] for token in range(_SIZE)] == pytest.approx(expected[place])


def test_a_token_that_evidence_rules_out_is_never_considered() -> None:
    evidence = np.zeros((3, _SIZE))
    evidence[:, 2] = -np.inf
    found = marginals(evidence, _mixture(), Beam(contexts=50, tokens=10))
    assert all(2 not in shares for shares in found)


def test_a_narrow_beam_still_finds_what_evidence_and_texts_agree_on() -> None:
    evidence = np.zeros((_PLACES, _SIZE))
    evidence[np.arange(_PLACES), _TEXTS[0]] = 3.0
    found = marginals(evidence, _mixture(), Beam(contexts=2, tokens=3))
    assert [max(shares, key=shares.__getitem__) for shares in found] == _TEXTS[0]
