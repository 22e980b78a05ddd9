"""The LM head on returned states: the reply, which the server could have sampled itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.guess import Guess, best
from split_client.audit.attacks.knowledge import PublicModel

# States whose scores are in memory at once.
_AT_ONCE = 16


def head_on_states(states: NDArray[np.float32], model: PublicModel) -> Guess:
    """The tokens that the device likely chose from ``states`` [n, H]."""
    parts = (states[first : first + _AT_ONCE] for first in range(0, len(states), _AT_ONCE))
    return Guess(np.stack([best(row) for part in parts for row in model.log_probabilities(part)]))
