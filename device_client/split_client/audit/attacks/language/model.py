"""The audited model's own prior: what it expects next, after tokens that the attacker believes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.flock import Flock
from split_client.audit.attacks.ngram.trained import BEFORE

# A share for the frequencies of tokens keeps a token that the model does not expect possible.
_MODEL_SHARE = 0.9
# Texts whose scores over all tokens are in memory at once.
_AT_ONCE = 32


class ModelPrior:
    """log p(next token | text so far), by running the model over clean rows in ``flock``.

    Texts begin with a :class:`TokenPrior`'s ``lead``, and the model reads them behind ``before``,
    which tells it what kind of texts they are.
    """

    def __init__(self, model: PublicModel, flock: Flock, before: Sequence[int]) -> None:
        self._model, self._flock = model, flock
        self._lead, self._before = BEFORE + len(model.prefix), tuple(before)

    def after(self, texts: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log probabilities of ``tokens`` [k] after each of ``texts`` [n, length], [n, k].

        Raises the errors of sessions and TimeUp.
        """
        if texts.shape[1] == self._lead and not self._before:
            # A model says nothing before its first token: the corpus's frequencies stand in.
            return np.tile(self._model.log_frequencies[tokens], (len(texts), 1))
        states = self._flock.states(
            [(*self._before, *map(int, text[self._lead :])) for text in texts]
        )
        return np.concatenate(
            [
                self._model.log_probabilities(states[first : first + _AT_ONCE])[:, tokens]
                for first in range(0, len(states), _AT_ONCE)
            ]
        )


def mixed(model: PublicModel, states: NDArray[np.float32]) -> NDArray[np.float64]:
    """Log probabilities of the LM head after ``states`` [n, H], mixed with frequencies, [n, V]."""
    from_model = np.log(_MODEL_SHARE) + model.log_probabilities(states)
    from_counts = np.log1p(-_MODEL_SHARE) + model.log_frequencies
    return np.asarray(np.logaddexp(from_model, from_counts))
