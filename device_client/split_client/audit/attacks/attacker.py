"""All attacks on one message: recorded exchanges in, guesses by name out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.averaging import averaged
from split_client.audit.attacks.edits import behind, picked
from split_client.audit.attacks.guess import Guess, ranked
from split_client.audit.attacks.knowledge import Mechanism, PublicModel
from split_client.audit.attacks.lattice.field import Field, field_of
from split_client.audit.attacks.lattice.guessed import guessed
from split_client.audit.attacks.lattice.search import Breadth, Prior, search
from split_client.audit.attacks.nearest import likelihoods_of, log_likelihoods, nearest
from split_client.audit.attacks.ngram.trained import TokenPrior
from split_client.audit.attacks.observed import Observed, observe
from split_client.audit.attacks.prior import most_frequent
from split_client.audit.attacks.reply import head_on_states
from split_client.audit.attacks.states import StatePrior
from split_client.audit.attacks.vocabulary import match, shortlist
from split_client.audit.effort import Effort
from split_client.audit.recording import Exchange
from split_client.audit.session import Model

# Texts that differ in more than so many of their last tokens go on as one: of counts those that
# the counts look at, of a model a few more.
_COUNTED, _MODELLED = 4, 6


@dataclass(frozen=True, slots=True)
class Matched:
    """Vocabulary matching of one ``position`` of the message, counted from its first token."""

    position: int
    guess: Guess


@dataclass(frozen=True, slots=True)
class Edited:
    """Of one conversation with edits: ``guesses`` at the message, and which variant each of its
    texts seems to begin with.
    """

    guesses: dict[str, Guess]
    picked: tuple[int, ...]


class Attacker:
    """``own``: a session of the attacker's; ``counts`` and ``language`` say which texts are likely,
    the first at once, the other by running a model; ``seed`` decides which positions are matched.
    """

    def __init__(
        self,
        model: PublicModel,
        own: Model,
        counts: TokenPrior,
        language: Prior,
        effort: Effort,
        seed: int,
    ) -> None:
        self._model, self._session, self._effort, self._seed = model, own, effort, seed
        self._counts, self._language = counts, language
        self._states = StatePrior(model, own)
        self._prior = cache(self._without_rows)

    def looked_up(self, sighting: Sequence[Exchange], mechanism: Mechanism) -> dict[str, Guess]:
        """Guesses at the message of one conversation that table, counts and one pass of the model
        give. And what needs no rows: the most frequent tokens, the likeliest text by counts.
        """
        observed = observe(tuple(sighting))
        rows = self._message_rows(observed)
        (alone,) = likelihoods_of([(rows, mechanism)], self._model)
        context = self._states.within(observed.prompt_rows)
        return {
            "prior_frequent": most_frequent(self._model, len(alone)),
            "prior_ngram": self._prior(len(alone)),
            "nearest": nearest(alone),
            "nearest_context": ranked(alone + context),
            "ngram": self._counted(alone),
        }

    def searched(self, sighting: Sequence[Exchange], mechanism: Mechanism) -> dict[str, Guess]:
        """Guesses with a language model's prior, which runs it on every text that is followed."""
        rows = self._message_rows(observe(tuple(sighting)))
        (alone,) = likelihoods_of([(rows, mechanism)], self._model)
        return {"language": self._modelled(alone)}

    def averaged(
        self, sightings: Sequence[Sequence[Exchange]], mechanism: Mechanism
    ) -> dict[str, Guess]:
        """Guesses at the message that ``sightings`` show, each in a conversation of its own."""
        seen = [self._message_rows(observe(tuple(sighting))) for sighting in sightings]
        counts = [count for count in self._effort.sessions if 1 < count <= len(seen)]
        means = [(averaged(seen[:count]), mechanism.averaged(count)) for count in counts]
        if not means:
            return {}
        found = likelihoods_of(means, self._model)
        guesses: dict[str, Guess] = {}
        for count, likelihoods in zip(counts, found, strict=True):
            guesses |= self._together(f"average_{count}", likelihoods)
        return guesses

    def edited(self, sighting: Sequence[Exchange], mechanism: Mechanism) -> Edited:
        """Guesses at the message of one conversation in which what stands before it was edited."""
        texts = observe(tuple(sighting)).texts
        rows = averaged(behind(texts, self._model))
        (mean,) = likelihoods_of([(rows, mechanism.averaged(len(texts)))], self._model)
        variants = tuple(picked(text, self._model, mechanism) for text in texts)
        return Edited(self._together("edits", mean), variants)

    def matched(self, sighting: Sequence[Exchange], mechanism: Mechanism, number: int) -> Matched:
        """Vocabulary matching at one position of message ``number``, which the seed decides."""
        rows = observe(tuple(sighting)).prompt_rows
        before = len(self._model.prefix)
        message = rows[before : len(rows) - len(self._model.suffix)]
        position = int(np.random.default_rng([self._seed, number]).integers(len(message)))
        states, start = self._session.run(rows, 0), before + position
        likelihood = log_likelihoods(message[position : position + 1], self._model, mechanism)[0]
        prior = self._states.at(states, range(start, start + 1))[0]
        candidates = shortlist(likelihood, prior, self._effort.candidates)
        guess = match(self._session, self._model, rows[:start], states[start], candidates)
        return Matched(position, guess)

    def reply(self, sighting: Sequence[Exchange]) -> Guess:
        """The reply's tokens, from the states that the server returned."""
        return head_on_states(observe(tuple(sighting)).reply_states, self._model)

    def _message_rows(self, observed: Observed) -> NDArray[np.float32]:
        rows = observed.prompt_rows
        return rows[len(self._model.prefix) : len(rows) - len(self._model.suffix)]

    def _together(self, name: str, likelihoods: NDArray[np.float64]) -> dict[str, Guess]:
        """The attacks on what several sightings say together."""
        return {
            f"{name}_nearest": nearest(likelihoods),
            f"{name}_ngram": self._counted(likelihoods),
            f"{name}_language": self._modelled(likelihoods),
        }

    def _without_rows(self, count: int) -> Guess:
        return self._counted(np.zeros((count, self._model.vocabulary)))

    def _counted(self, likelihoods: NDArray[np.float64]) -> Guess:
        breadth = Breadth(self._effort.texts, _COUNTED)
        return self._weighed(likelihoods, self._field(likelihoods), self._counts, breadth)

    def _modelled(self, likelihoods: NDArray[np.float64]) -> Guess:
        """Where the rows alone leave one text, there is nothing for the model to say."""
        field, breadth = self._field(likelihoods), Breadth(self._effort.beam, _MODELLED)
        prior = self._counts if field.certain else self._language
        return self._weighed(likelihoods, field, prior, breadth)

    def _field(self, likelihoods: NDArray[np.float64]) -> Field:
        end = tuple(self._model.suffix[:1])
        return field_of(likelihoods, self._counts, self._effort.possible, end)

    def _weighed(
        self, likelihoods: NDArray[np.float64], field: Field, prior: Prior, breadth: Breadth
    ) -> Guess:
        lattice = search(field, prior, self._counts.lead, breadth)
        return guessed(field, lattice, len(likelihoods))
