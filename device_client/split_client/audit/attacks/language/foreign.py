"""Another language model's prior over the audited model's tokens.

The other model is run on the text so far, in its own tokens, and on the text before the word that
is being written. A token that goes on with a word is as likely as the word's new beginning, given
the old one; a token behind a word as likely as the word's end, and then what begins with the token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.flock import Flock, Text
from split_client.audit.attacks.language.spelling import Spelling
from split_client.audit.attacks.ngram.trained import BEFORE

_LEAST = 1e-9
# Texts whose scores over all tokens are in memory at once.
_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class _Written:
    """A text: the other model's tokens of all of it, of what stands before its last word, and that
    word as far as it is written, with the space before it.
    """

    whole: Text
    before: Text
    word: str


class ForeignPrior:
    """``other`` is run in ``flock`` and reads texts behind ``before``, in its own tokens; they are
    tokens of ``model`` behind a :class:`TokenPrior`'s ``lead``.
    """

    def __init__(
        self, model: PublicModel, other: PublicModel, flock: Flock, before: Sequence[int]
    ) -> None:
        self._model, self._lead = model, BEFORE + len(model.prefix)
        self._other, self._flock, self._before = other, flock, tuple(before)
        self._texts = _spellings(model)
        self._spelling = Spelling(_spellings(other))
        self._end = other.suffix[0] if other.suffix else None

    def after(self, texts: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log probabilities of ``tokens`` [k] after each of ``texts`` [n, length], [n, k].

        Raises the errors of sessions and TimeUp.
        """
        written = [self._written([int(index) for index in text[self._lead :]]) for text in texts]
        whole = self._chances([one.whole for one in written])
        before = self._chances([one.before for one in written])
        spelt = tuple(self._texts[int(index)] for index in tokens)
        rows = [
            self._following(one, spelt, *pair)
            for one, *pair in zip(written, before, whole, strict=True)
        ]
        return np.log(np.maximum(np.stack(rows), _LEAST))

    def _following(
        self,
        text: _Written,
        spelt: tuple[str, ...],
        before: NDArray[np.float64],
        whole: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Probabilities of tokens that are ``spelt`` so behind ``text`` [k]."""
        end = 0.0 if self._end is None else float(whole[self._end])
        anew = self._spelling.beginning(whole, spelt)
        anew = np.where([not one for one in spelt], end, anew)
        if not text.word:
            return anew
        begun = max(float(self._spelling.beginning(before, (text.word,))[0]), _LEAST)
        ended = min(1.0, self._spelling.ending(before, text.word) / begun)
        longer = self._spelling.beginning(before, tuple(text.word + one for one in spelt)) / begun
        goes_on = np.array([one[:1].isalpha() for one in spelt])
        return np.where(goes_on, longer, ended * anew)

    def _written(self, ids: list[int]) -> _Written:
        text = self._model.text(ids) if ids else ""
        start = len(text)
        while start and text[start - 1].isalpha():
            start -= 1
        if start < len(text) and text[max(0, start - 1)] == " ":
            start -= 1
        return _Written(self._tokens(text), self._tokens(text[:start]), text[start:])

    def _tokens(self, text: str) -> Text:
        return (*self._before, *(self._other.tokens(text) if text else ()))

    def _chances(self, texts: list[Text]) -> list[NDArray[np.float64]]:
        """Of every next token of the other model, [V] for each text."""
        states = self._flock.states(texts)
        return [
            row
            for first in range(0, len(states), _AT_ONCE)
            for row in np.exp(self._other.log_probabilities(states[first : first + _AT_ONCE]))
        ]


def _spellings(model: PublicModel) -> list[str]:
    """The text of each token; none for one that is no whole text."""
    return [_plain(model.text([index])) for index in range(model.vocabulary)]


def _plain(text: str) -> str:
    return "" if "\ufffd" in text else text
