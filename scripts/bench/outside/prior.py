"""How likely each of some tokens is behind contexts, by a mixture of n-gram counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scripts.bench.outside.counts import BITS, LONGEST, Floats, Grams, Keys, Order, last


class Counts:
    """One Witten-Bell model of ``size`` tokens, the message's beginning and its end."""

    def __init__(self, parts: list[list[Grams]], size: int) -> None:
        self._orders = [Order.of(part[m] for part in parts) for m in range(LONGEST + 1)]
        single = self._orders[0]
        self._single = np.full(size + 2, single.rest[0] / (size + 2))
        self._single[single.tokens] += single.shares
        self._column = np.full(size + 2, -1)

    def single(self) -> Floats:
        """[size + 2]: without any context."""
        return self._single

    def behind(self, keys: Keys, tokens: NDArray[np.int64]) -> Floats:
        """Probabilities [len(keys), len(tokens)]."""
        self._column[tokens] = np.arange(len(tokens))
        found, back = self._single[tokens][None], np.zeros(len(keys), np.int64)
        for m in range(1, LONGEST + 1):
            contexts, first, inverse = np.unique(
                last(keys, m), return_index=True, return_inverse=True
            )
            found = self._longer(self._orders[m], contexts, found[back[first]])
            back = inverse
        self._column[tokens] = -1
        return found[back]

    def _longer(self, order: Order, contexts: Keys, shorter: Floats) -> Floats:
        """Of what ``shorter`` contexts say [n, K], what these say."""
        place = order.find(contexts)
        rows = np.flatnonzero(place >= 0)
        seen = place[rows]
        shorter[rows] *= order.rest[seen][:, None]
        lengths = order.starts[seen + 1] - order.starts[seen]
        ends = np.cumsum(lengths)
        flat = np.arange(int(ends[-1]) if len(ends) else 0)
        flat += np.repeat(order.starts[seen] - (ends - lengths), lengths)
        columns = self._column[order.tokens[flat]]
        kept = columns >= 0
        shorter[np.repeat(rows, lengths)[kept], columns[kept]] += order.shares[flat[kept]]
        return shorter


@dataclass(frozen=True, slots=True)
class Mixture:
    """``parts``, each with a weight; the weights add up to 1. A state is its contexts."""

    parts: list[tuple[float, Counts]]
    size: int

    def start(self) -> tuple[Keys, Keys]:
        """The context of a message's first token."""
        key = 0
        for _ in range(LONGEST):
            key = key << BITS | self.size
        keys = np.array([key], np.uint64)
        return keys, keys

    def single(self) -> Floats:
        """[size]: without any context."""
        return _summed([weight * part.single() for weight, part in self.parts])[: self.size]

    def behind(self, state: Keys, tokens: NDArray[np.int64]) -> Floats:
        """Probabilities [len(state), len(tokens)]."""
        return _summed([weight * part.behind(state, tokens) for weight, part in self.parts])

    def ends(self, state: Keys) -> Floats:
        """Probabilities [len(state)] of a message's end."""
        ends: Floats = self.behind(state, np.array([self.size + 1]))[:, 0]
        return ends

    def keys(self, state: Keys, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> Keys:
        """The last tokens once ``tokens`` stand behind."""
        return (state[rows] << np.uint64(BITS)) | tokens.astype(np.uint64)

    def step(self, state: Keys, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> Keys:
        """Those keys."""
        return self.keys(state, rows, tokens)


def _summed(parts: list[Floats]) -> Floats:
    found: Floats = np.sum(parts, axis=0)
    return found
