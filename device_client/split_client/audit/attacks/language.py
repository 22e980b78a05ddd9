"""The language-model prior: what the model expects next, after tokens that the attacker believes.

States are kept by their prefix, because hypotheses and attacks come back to the same ones.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.session import Model

# A share for the frequencies of tokens keeps a token that the model does not expect possible.
_MODEL_SHARE = 0.9
_KEPT_BYTES = 128 << 20


class LanguagePrior:
    """log p(next token | tokens so far) over clean rows, by running ``session``."""

    def __init__(self, model: PublicModel, session: Model) -> None:
        self._model, self._session = model, session
        self._cached: tuple[int, ...] = ()
        self._states: OrderedDict[tuple[int, ...], NDArray[np.float32]] = OrderedDict()
        self._most = max(1, _KEPT_BYTES // (4 * model.hidden))

    def after(self, texts: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
        """Log probabilities of the token after each of ``texts``, which are as long: [texts, V].

        Of the first token by frequency.
        """
        if not texts[0]:
            return np.tile(self._model.log_frequencies, (len(texts), 1))
        return mixed(self._model, np.stack([self._state(tokens) for tokens in texts]))

    def forget(self) -> None:
        """Somebody else has used the session."""
        self._cached = ()

    def _state(self, tokens: tuple[int, ...]) -> NDArray[np.float32]:
        kept = self._states.get(tokens)
        if kept is None:
            kept = self._states[tokens] = self._run(tokens)
            if len(self._states) > self._most:
                self._states.popitem(last=False)
        else:
            self._states.move_to_end(tokens)
        return kept

    def _run(self, tokens: tuple[int, ...]) -> NDArray[np.float32]:
        start = 0
        for left, right in zip(self._cached, tokens[:-1], strict=False):
            if left != right:
                break
            start += 1
        rows = self._model.rows(list(tokens[start:]))
        # Nothing is known of the session's cache when its work is broken off.
        self._cached = ()
        state = self._session.run(rows, start)[-1]
        self._cached = tokens
        return np.array(state)


def mixed(model: PublicModel, states: NDArray[np.float32]) -> NDArray[np.float64]:
    """Log probabilities of the LM head after ``states`` [n, H], mixed with frequencies, [n, V]."""
    from_model = np.log(_MODEL_SHARE) + model.log_probabilities(states)
    from_counts = np.log1p(-_MODEL_SHARE) + model.log_frequencies
    return np.asarray(np.logaddexp(from_model, from_counts))
