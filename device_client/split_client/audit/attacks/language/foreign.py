"""Another language model's prior over the audited model's tokens.

The other model reads the text so far in its own tokens. What is written of the last word may be
some of them, or the beginning of a longer one that stands there instead. Each of these ways is as
likely as the model has it, and a token comes next as the ways go on with it (Vieira et al. 2024,
"From Language Models over Tokens to Language Models over Characters", here over another's tokens).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.flock import Flock, Text
from split_client.audit.attacks.language.reading import Read, Reader
from split_client.audit.attacks.language.ways import Ways
from split_client.audit.attacks.ngram.trained import BEFORE

Numbers: TypeAlias = NDArray[np.float64]
_LEAST = 1e-9
# Texts whose scores over all tokens are in memory at once, and those that are kept for what comes
# next: a word's beginning is asked for at each of its tokens.
_AT_ONCE, _KEPT = 32, 192


class ForeignPrior:
    """``other`` is run in ``flock`` and reads texts behind ``before``, in its own tokens; they are
    tokens of ``model`` behind a :class:`TokenPrior`'s ``lead``.
    """

    def __init__(
        self, model: PublicModel, other: PublicModel, flock: Flock, before: Sequence[int]
    ) -> None:
        self._model, self._other, self._flock = model, other, flock
        self._lead = BEFORE + len(model.prefix)
        self._reader = Reader(model, other, before)
        ways = [tuple(model.tokens(text)) if text else () for text in self._reader.spelt]
        self._ways = Ways(ways)
        # By text: how likely each token of the other model comes next, and the ways' sums of that.
        self._known: OrderedDict[Text, tuple[NDArray[np.float32], Numbers]] = OrderedDict()

    def after(self, texts: NDArray[np.int64], tokens: NDArray[np.int64]) -> Numbers:
        """Log probabilities of ``tokens`` [k] after each of ``texts`` [n, length], [n, k].

        Raises the errors of sessions and TimeUp.
        """
        read = [self._reader.read([int(index) for index in text[self._lead :]]) for text in texts]
        self._learn(sorted({text for one in read for text in one.texts}))
        columns = np.full(self._model.vocabulary, -1)
        columns[tokens] = np.arange(len(tokens))
        rows = [self._following(one, columns, len(tokens)) for one in read]
        return np.log(np.maximum(np.stack(rows), _LEAST))

    def _following(self, read: Read, columns: NDArray[np.int64], count: int) -> Numbers:
        """How likely the ``count`` tokens that have ``columns`` [V] follow what was ``read``."""
        found, weight, longer = np.zeros(count), 1.0, 0.0
        for text, rest, piece in zip(read.texts, read.rests, read.pieces, strict=False):
            chances, sums = self._known[text]
            if rest is not None:
                branch = self._ways.behind(rest)
                longer += weight * branch.whole(sums)
                _add(found, columns[branch.tokens], weight * branch.shares(sums))
            weight *= float(chances[piece])
        chances, sums = self._known[read.texts[-1]]
        anew = self._ways.behind(())
        _add(found, columns[anew.tokens], weight * anew.shares(sums))
        if self._other.suffix and self._model.suffix:
            end = np.array([weight * float(chances[self._other.suffix[0]])])
            _add(found, columns[self._model.suffix[:1]], end)
        return found / max(longer + weight, float(np.finfo(np.float64).tiny))

    def _learn(self, texts: list[Text]) -> None:
        """What the other model says behind each of ``texts``."""
        new = [text for text in texts if text not in self._known]
        if new:
            self._score(new)
        for text in texts:
            self._known.move_to_end(text)
        while len(self._known) > max(_KEPT, len(texts)):
            self._known.popitem(last=False)

    def _score(self, new: list[Text]) -> None:
        states = self._flock.states(new)
        for first in range(0, len(new), _AT_ONCE):
            chances = np.exp(self._other.log_probabilities(states[first : first + _AT_ONCE]))
            for text, *found in zip(new[first:], chances, self._ways.sums(chances), strict=False):
                # Rows of their own: what is dropped later must not stay with the others.
                self._known[text] = (found[0].astype(np.float32), found[1].copy())


def _add(found: Numbers, columns: NDArray[np.int64], shares: Numbers) -> None:
    there = columns >= 0
    found[columns[there]] += shares[there]
