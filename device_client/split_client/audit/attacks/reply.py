"""The LM head on returned states: the reply, which the server could have sampled itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.guess import Guess, best
from split_client.audit.attacks.knowledge import PublicModel


def head_on_states(states: NDArray[np.float32], model: PublicModel) -> Guess:
    """The tokens that the device likely chose from ``states`` [n, H]."""
    return Guess(np.stack([best(model.log_probabilities(state)) for state in states]))
