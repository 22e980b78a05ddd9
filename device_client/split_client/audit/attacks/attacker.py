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
from split_client.audit.attacks.nearest import likelihoods_of, log_likelihoods, nearest
from split_client.audit.attacks.observed import Observed, observe
from split_client.audit.attacks.prior import most_frequent
from split_client.audit.attacks.reply import head_on_states
from split_client.audit.attacks.vocabulary import match, shortlist
from split_client.audit.effort import Effort
from split_client.audit.recording import Exchange
from split_client.audit.session import Model

# Positions whose priors are worked out at once.
_AT_ONCE = 16


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

    def looked_up(self, sighting: Sequence[Exchange], mechanism: Mechanism) -> dict[str, Guess]:
        """Guesses at the message of one conversation that the table and one pass of the model give.

        And the most frequent tokens, which need no rows.
        """
        (alone,) = self._likelihoods([sighting], mechanism)
        return {
            "prior_frequent": most_frequent(self._model, len(alone)),
            "nearest": nearest(alone),
            "nearest_context": single_pass(alone, self._context(sighting)),
        }

    def searched(
        self, sightings: Sequence[Sequence[Exchange]], mechanism: Mechanism
    ) -> dict[str, Guess]:
        """Guesses at the message that ``sightings`` show, each in a conversation of its own.

        Beams, which run the model on every hypothesis at every position, and means.
        """
        alone, *together = self._likelihoods(sightings, mechanism)
        guesses = {
            "prior_language": self._without_rows(len(alone)),
            "nearest_beam": self._beam(alone),
        }
        for count, likelihoods in zip(self._counts(sightings), together, strict=True):
            guesses[f"average_{count}_nearest"] = nearest(likelihoods)
            guesses[f"average_{count}_beam"] = self._beam(likelihoods)
        return guesses

    def _counts(self, sightings: Sequence[Sequence[Exchange]]) -> list[int]:
        """How many conversations are averaged."""
        return [count for count in self._effort.sessions if 1 < count <= len(sightings)]

    def _likelihoods(
        self, sightings: Sequence[Sequence[Exchange]], mechanism: Mechanism
    ) -> list[NDArray[np.float64]]:
        """Of the first sighting alone, and of the means of several."""
        seen = [self._message_rows(observe(tuple(sighting))) for sighting in sightings]
        means = [
            (averaged(seen[:count]), mechanism.averaged(count)) for count in self._counts(sightings)
        ]
        return likelihoods_of([(seen[0], mechanism), *means], self._model)

    def matched(self, sighting: Sequence[Exchange], mechanism: Mechanism, number: int) -> Matched:
        """Vocabulary matching at one position of message ``number``, which the seed decides."""
        rows = observe(tuple(sighting)).prompt_rows
        before = len(self._model.prefix)
        message = rows[before : len(rows) - len(self._model.suffix)]
        position = int(np.random.default_rng([self._seed, number]).integers(len(message)))
        states = self._states(rows)
        likelihood = log_likelihoods(message[position : position + 1], self._model, mechanism)[0]
        prior = self._priors_at(states, range(before + position, before + position + 1))[0]
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
        first, last = len(self._model.prefix), len(rows) - len(self._model.suffix)
        parts = [
            self._priors_at(states, range(place, min(place + _AT_ONCE, last)))
            for place in range(first, last, _AT_ONCE)
        ]
        return np.concatenate(parts)

    def _states(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        self._prior.forget()
        return self._session.run(rows, 0)

    def _priors_at(self, states: NDArray[np.float32], places: range) -> NDArray[np.float64]:
        """Priors [places, V]; where nothing stands before, the frequencies."""
        if places.start > 0:
            return mixed(self._model, states[places.start - 1 : places.stop - 1])
        first = self._model.log_frequencies[None, :]
        if len(places) == 1:
            return first
        return np.concatenate([first, self._priors_at(states, range(1, places.stop))])

    def _beam(self, likelihoods: NDArray[np.float64]) -> Guess:
        return beam_search(likelihoods, self._prior, self._model.prefix, self._effort.beam)

    def _language_alone(self, count: int) -> Guess:
        return self._beam(np.zeros((count, self._model.vocabulary)))
