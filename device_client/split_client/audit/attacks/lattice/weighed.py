"""Texts that share their beginnings and ends, and the weight that runs through each token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Grown:
    """One place: edges from ``parents`` [e] to ``children`` [e], which ``added`` [e] nats, and the
    ``tokens`` [children] that stand there.
    """

    parents: NDArray[np.int64]
    children: NDArray[np.int64]
    added: NDArray[np.float64]
    tokens: NDArray[np.int64]


class Lattice:
    """``places`` from the first to the last, the first of one parent."""

    def __init__(self, places: tuple[Grown, ...]) -> None:
        self._places = places

    def chances(self) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """By place, tokens and their probabilities given all rows."""
        forward, backward = self._forward(), self._backward()
        found = []
        for place, before, behind in zip(self._places, forward, backward, strict=True):
            whole = before + behind
            shares = np.exp(whole - whole.max())
            tokens, which = np.unique(place.tokens, return_inverse=True)
            summed = np.bincount(which, shares, len(tokens))
            found.append((tokens, summed / summed.sum()))
        return found

    def heaviest(self) -> list[int]:
        """The one text of the most weight."""
        best, origins = np.zeros(1), []
        for place in self._places:
            whole = best[place.parents] + place.added
            order = np.lexsort((-whole, place.children))
            edge = order[np.searchsorted(place.children[order], np.arange(len(place.tokens)))]
            best = whole[edge]
            origins.append(place.parents[edge])
        at, text = int(np.argmax(best)), []
        for place, origin in zip(reversed(self._places), reversed(origins), strict=True):
            text.append(int(place.tokens[at]))
            at = int(origin[at])
        return text[::-1]

    def _forward(self) -> list[NDArray[np.float64]]:
        weights, found = np.zeros(1), []
        for place in self._places:
            whole = weights[place.parents] + place.added
            weights = sums_of(whole, place.children, len(place.tokens))
            found.append(weights)
        return found

    def _backward(self) -> list[NDArray[np.float64]]:
        found = [np.zeros(len(self._places[-1].tokens))]
        for before, place in zip(self._places[-2::-1], self._places[:0:-1], strict=True):
            whole = found[0][place.children] + place.added
            found.insert(0, sums_of(whole, place.parents, len(before.tokens)))
        return found


def sums_of(
    weights: NDArray[np.float64], groups: NDArray[np.int64], count: int
) -> NDArray[np.float64]:
    """log of the sum of exp(``weights``) of each of ``count`` groups; -inf for an empty one."""
    peak = float(weights.max())
    with np.errstate(divide="ignore"):
        return np.asarray(peak + np.log(np.bincount(groups, np.exp(weights - peak), count)))
