"""Tokens as texts: how likely a model's next token is to begin with some letters.

Two models cut texts into other tokens. A token of one is likely after a text where the other
expects tokens that begin like it, or that it begins with.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Of a letter that a model's next token does not reach any more.
_LETTER = 0.06
_LAST = "\U0010ffff"
_REMEMBERED = 512


@dataclass(frozen=True, slots=True)
class Spelt:
    """Of some texts [n]: the tokens that begin with each stand in the order of spellings from
    ``first`` [n] to ``stop`` [n]. Text ``whose`` [m] begins with the shorter token ``shorter`` [m],
    and what remains of it has the chance ``rest`` [m].
    """

    first: NDArray[np.int64]
    stop: NDArray[np.int64]
    whose: NDArray[np.int64]
    shorter: NDArray[np.int64]
    rest: NDArray[np.float64]


class Spelling:
    """``texts``: of every token by id; empty for one that stands for none."""

    def __init__(self, texts: Sequence[str]) -> None:
        ids = sorted((index for index, text in enumerate(texts) if text), key=texts.__getitem__)
        self._order = np.array(ids, np.int64)
        self._sorted = [texts[index] for index in ids]
        self._ids = {text: index for index, text in enumerate(texts) if text}
        # The same texts are asked for after every hypothesis at a place.
        self.of = lru_cache(_REMEMBERED)(self._of)

    def beginning(
        self, chances: NDArray[np.float64], wanted: tuple[str, ...]
    ) -> NDArray[np.float64]:
        """For each of ``wanted`` how likely what follows begins with it, given ``chances`` [V] of
        the next token.
        """
        summed = np.concatenate([[0.0], np.cumsum(chances[self._order])])
        spelt = self.of(wanted)
        rest = np.bincount(spelt.whose, chances[spelt.shorter] * spelt.rest, len(wanted))
        return np.asarray(summed[spelt.stop] - summed[spelt.first] + rest)

    def ending(self, chances: NDArray[np.float64], text: str) -> float:
        """How likely ``text``, a word, is what follows, with nothing of the word behind it."""
        spelt = self.of((text,))
        whole = self._ids.get(text)
        found = 0.0 if whole is None else float(chances[whole])
        return found + float((chances[spelt.shorter] * spelt.rest).sum())

    def _of(self, texts: tuple[str, ...]) -> Spelt:
        begins = [
            (number, self._ids[text[:length]], _LETTER ** (len(text) - length))
            for number, text in enumerate(texts)
            for length in range(1, len(text))
            if text[:length] in self._ids
        ]
        return Spelt(
            np.array([bisect_left(self._sorted, text) for text in texts]),
            np.array([bisect_left(self._sorted, text + _LAST) for text in texts]),
            np.array([one[0] for one in begins], np.int64),
            np.array([one[1] for one in begins], np.int64),
            np.array([one[2] for one in begins], np.float64),
        )
