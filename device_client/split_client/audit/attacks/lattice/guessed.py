"""The guess that a lattice makes: at each place the token that the most weight runs through."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.guess import KEPT, Guess
from split_client.audit.attacks.lattice.field import Field
from split_client.audit.attacks.lattice.weighed import Lattice

# What nothing runs through comes after everything else, by its row.
_LAST = 1e-12


def guessed(field: Field, lattice: Lattice, count: int) -> Guess:
    """Of the first ``count`` places."""
    chances = lattice.chances()[:count]
    rows = [
        _ranked(tokens, evidence, *chance)
        for tokens, evidence, chance in zip(field.tokens, field.evidence, chances, strict=False)
    ]
    return Guess(np.stack(rows), tuple(lattice.heaviest()[:count]))


def _ranked(
    tokens: NDArray[np.int64],
    evidence: NDArray[np.float64],
    found: NDArray[np.int64],
    shares: NDArray[np.float64],
) -> NDArray[np.int64]:
    scores = np.zeros(len(tokens))
    scores[np.searchsorted(tokens, found)] = shares
    scores += _LAST * np.exp(evidence)
    order = np.lexsort((tokens, -scores))[:KEPT]
    ranked = tokens[order]
    # Fewer than KEPT are possible: the last one again, which counts once.
    return np.concatenate([ranked, np.repeat(ranked[-1:], KEPT - len(ranked))])
