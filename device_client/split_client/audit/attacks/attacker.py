"""All attacks on one message: recorded exchanges in, guesses by name out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.averaging import averaged
from split_client.audit.attacks.beam import beam_search, single_pass
from split_client.audit.attacks.guess import Guess
from split_client.audit.attacks.knowledge import Mechanism, PublicModel
from split_client.audit.attacks.language import LanguagePrior, mixed
from split_client.audit.attacks.nearest import log_likelihoods, nearest
from split_client.audit.attacks.observed import Observed, observe
from split_client.audit.attacks.prior import most_frequent
from split_client.audit.attacks.reply import head_on_states
from split_client.audit.attacks.vocabulary import match, shortlist
from split_client.audit.effort import Effort
from split_client.audit.recording import Exchange
from split_client.audit.session import Model


@dataclass(frozen=True, slots=True)
class Matched:
    """Vocabulary matching of one ``position`` of the message, counted from its first token."""

    position: int
    guess: Guess


class Attacker:
    """``session`` is the attacker's own; ``seed`` decides which positions are matched."""

    def __init__(self, model: PublicModel, session: Model, effort: Effort, seed: int) -> None:
        self._model, self._session, self._effort = model, session, effort
        self._prior = LanguagePrior(model, session)
        self._seed = seed
        self._without_rows = cache(self._language_alone)

    def priors(self, sighting: Sequence[Exchange]) -> dict[str, Guess]:
        """Guesses at a message of known length without its rows."""
        count = len(self._message_rows(observe(tuple(sighting))))
        return {
            "prior_frequent": most_frequent(self._model, count),
            "prior_language": self._without_rows(count),
        }

    def message(
        self, sightings: Sequence[Sequence[Exchange]], mechanism: Mechanism
    ) -> dict[str, Guess]:
        """Guesses at the message that ``sightings`` show, each in a conversation of its own."""
        seen = [self._message_rows(observe(tuple(sighting))) for sighting in sightings]
        likelihoods = log_likelihoods(seen[0], self._model, mechanism)
        guesses = {
            "nearest": nearest(likelihoods),
            "nearest_context": single_pass(likelihoods, self._context(sightings[0])),
            "nearest_beam": self._beam(likelihoods),
        }
        for count in (n for n in self._effort.sessions if 1 < n <= len(seen)):
            together = averaged(seen[:count])
            likelihoods = log_likelihoods(together, self._model, mechanism.averaged(count))
            guesses[f"average_{count}_nearest"] = nearest(likelihoods)
            guesses[f"average_{count}_beam"] = self._beam(likelihoods)
        return guesses

    def matched(self, sighting: Sequence[Exchange], mechanism: Mechanism, number: int) -> Matched:
        """Vocabulary matching at one position of message ``number``, which the seed decides."""
        rows = observe(tuple(sighting)).prompt_rows
        before = len(self._model.prefix)
        message = rows[before : len(rows) - len(self._model.suffix)]
        position = int(np.random.default_rng([self._seed, number]).integers(len(message)))
        states = self._states(rows)
        likelihood = log_likelihoods(message[position : position + 1], self._model, mechanism)[0]
        prior = self._prior_at(states, before + position)
        candidates = shortlist(likelihood, prior, self._effort.candidates)
        start = before + position
        self._prior.forget()
        guess = match(self._session, self._model, rows[:start], states[start], candidates)
        return Matched(position, guess)

    def reply(self, sighting: Sequence[Exchange]) -> Guess:
        """The reply's tokens, from the states that the server returned."""
        return head_on_states(observe(tuple(sighting)).reply_states, self._model)

    def _message_rows(self, observed: Observed) -> NDArray[np.float32]:
        rows = observed.prompt_rows
        return rows[len(self._model.prefix) : len(rows) - len(self._model.suffix)]

    def _context(self, sighting: Sequence[Exchange]) -> NDArray[np.float64]:
        """Priors at the message's positions [n, V], from the recorded rows before each."""
        rows = observe(tuple(sighting)).prompt_rows
        states = self._states(rows)
        places = range(len(self._model.prefix), len(rows) - len(self._model.suffix))
        return np.stack([self._prior_at(states, place) for place in places])

    def _states(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        self._prior.forget()
        return self._session.run(rows, 0)

    def _prior_at(self, states: NDArray[np.float32], place: int) -> NDArray[np.float64]:
        if place == 0:
            return self._model.log_frequencies
        return mixed(self._model, states[place - 1])

    def _beam(self, likelihoods: NDArray[np.float64]) -> Guess:
        return beam_search(likelihoods, self._prior, self._model.prefix, self._effort.beam)

    def _language_alone(self, count: int) -> Guess:
        return self._beam(np.zeros((count, self._model.vocabulary)))
