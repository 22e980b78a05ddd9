"""The model's prior after recorded rows themselves, which needs no guess at what stood before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.model import mixed
from split_client.audit.session import Model

# Positions whose priors are worked out at once.
_AT_ONCE = 16


class StatePrior:
    """``session`` computes the states that the audited server computed anyway."""

    def __init__(self, model: PublicModel, session: Model) -> None:
        self._model, self._session = model, session

    def within(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Priors at the places of the message in a prompt's ``rows``, [n, V]."""
        states = self._session.run(rows, 0)
        first, last = len(self._model.prefix), len(rows) - len(self._model.suffix)
        parts = [
            self.at(states, range(place, min(place + _AT_ONCE, last)))
            for place in range(first, last, _AT_ONCE)
        ]
        return np.concatenate(parts)

    def at(self, states: NDArray[np.float32], places: range) -> NDArray[np.float64]:
        """Priors [places, V]; where nothing stands before, the frequencies."""
        if places.start > 0:
            return mixed(self._model, states[places.start - 1 : places.stop - 1])
        first = self._model.log_frequencies[None, :]
        if len(places) == 1:
            return first
        return np.concatenate([first, self.at(states, range(1, places.stop))])
