"""Vocabulary matching: which token, run at a position, reproduces the state that came out there.

The prefix is the recorded one, row by row, so the only difference is the token. Candidates are
the tokens that model and rows hold likeliest; trying all of a vocabulary is a matter of patience.
Compare Thomas et al., "Hidden No More: Attacking and Defending Private Third-Party LLM Inference"
(arXiv 2505.18332), who match states of deeper layers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.guess import KEPT, Guess
from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.session import Model


def shortlist(likelihood: NDArray[np.float64], prior: NDArray[np.float64], count: int) -> list[int]:
    """``count`` candidates: the likeliest by the rows [V] and by the model [V], half of each."""
    half = max(1, count // 2)
    by_rows = np.argsort(-likelihood, kind="stable")[:half]
    by_model = np.argsort(-prior, kind="stable")[: count - half]
    return list(dict.fromkeys(int(index) for index in (*by_rows, *by_model)))


def match(
    session: Model,
    model: PublicModel,
    rows: NDArray[np.float32],
    state: NDArray[np.float32],
    candidates: list[int],
) -> Guess:
    """Rank ``candidates`` for the position after ``rows`` [n, H] by how near ``state`` they end.

    ``state`` [H] is what the server computed there.
    """
    session.run(rows, 0)
    distances = []
    for candidate in candidates:
        got = session.run(model.rows([candidate]), len(rows))[-1]
        distances.append(float(np.square(got.astype(np.float64) - state).sum()))
    order = np.argsort(distances, kind="stable")[:KEPT]
    found = [candidates[int(index)] for index in order]
    # A shortlist shorter than KEPT repeats its last entry, which counts once.
    found += [found[-1]] * (KEPT - len(found))
    return Guess(np.array([found], dtype=np.int64))
