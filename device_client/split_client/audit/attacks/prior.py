"""The guess of an attacker that sees no rows: the most frequent tokens, at every position."""

from __future__ import annotations

import numpy as np

from split_client.audit.attacks.guess import Guess, best
from split_client.audit.attacks.knowledge import PublicModel


def most_frequent(model: PublicModel, positions: int) -> Guess:
    """The tokens that the corpus has most of, the same ones everywhere."""
    return Guess(np.tile(best(model.log_frequencies), (positions, 1)))
