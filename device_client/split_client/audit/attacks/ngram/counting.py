"""Counts of what follows runs of tokens, in arrays that many runs are looked up in at once.

A run is known by a hash of 64 bits: of a million runs two share one with a probability of 3e-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
_SPREAD, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Snippet:
    """``tokens`` of which those from ``first`` on are counted, ``weight`` times."""

    tokens: Sequence[int]
    first: int = 0
    weight: float = 1.0


def followed(hashes: Hashes, tokens: NDArray[np.int64]) -> Hashes:
    """The hashes of runs (``hashes``) with one more of ``tokens`` behind each."""
    mixed = (hashes ^ ((tokens.astype(np.uint64) + np.uint64(1)) * _SPREAD)) * _MIX
    return np.asarray(mixed ^ (mixed >> _HALF))


def hashed(runs: NDArray[np.int64]) -> Hashes:
    """Hashes of ``runs`` [n, length], the oldest token first."""
    hashes = np.zeros(len(runs), np.uint64)
    for column in range(runs.shape[1]):
        hashes = followed(hashes, runs[:, column])
    return hashes


class Followers:
    """Which tokens followed runs, and how often."""

    def __init__(
        self, runs: Hashes, tokens: NDArray[np.int64], counts: NDArray[np.float64]
    ) -> None:
        """Each of ``runs`` with each token that followed it once, the runs ascending."""
        self._runs, first = np.unique(runs, return_index=True)
        self._first = np.append(first, len(runs))
        self._tokens, self._counts = tokens, counts
        self._totals = np.add.reduceat(counts, first) if len(runs) else counts

    def seen(self, runs: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of ``runs`` were there, and where for :meth:`of`."""
        if not len(self._runs):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        at = np.minimum(np.searchsorted(self._runs, runs), len(self._runs) - 1)
        known = np.flatnonzero(self._runs[at] == runs)
        return known, at[known]

    def of(
        self, at: NDArray[np.int64], columns: NDArray[np.int64], width: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Of the runs at ``at`` [n]: counts of followers [n, width], in all and how many kinds.

        ``columns`` [vocabulary]: the column of each token, -1 for one that nobody asks for.
        """
        first, kinds = self._first[at], self._first[at + 1] - self._first[at]
        rows = np.repeat(np.arange(len(at)), kinds)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(kinds) - kinds, kinds)
        places = np.repeat(first, kinds) + within
        column = columns[self._tokens[places]]
        asked = column >= 0
        found = np.zeros((len(at), width))
        found[rows[asked], column[asked]] = self._counts[places[asked]]
        return found, self._totals[at], kinds.astype(np.float64)


class Runs:
    """All runs of tokens in ``snippets`` that end in a counted one."""

    def __init__(self, snippets: Sequence[Snippet]) -> None:
        sizes = np.array([len(one.tokens) for one in snippets])
        self._flat = np.concatenate([np.asarray(one.tokens, np.int64) for one in snippets])
        self._place = np.arange(len(self._flat)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self._first = np.repeat([one.first for one in snippets], sizes)
        self._weight = np.repeat([one.weight for one in snippets], sizes)

    def alone(self, vocabulary: int) -> NDArray[np.float64]:
        """How often each token was there, [vocabulary]."""
        ends = self._place >= self._first
        found = np.bincount(self._flat[ends], self._weight[ends], vocabulary)
        return np.asarray(found, np.float64)

    def of(self, length: int) -> Followers:
        """What followed runs of ``length`` tokens, one or more."""
        ends = np.flatnonzero(self._place >= np.maximum(self._first, length))
        runs = hashed(np.stack([self._flat[ends - back] for back in range(length, 0, -1)], axis=1))
        both = followed(runs, self._flat[ends])
        _, index, which = np.unique(both, return_index=True, return_inverse=True)
        counts = np.asarray(np.bincount(which, self._weight[ends], len(index)), np.float64)
        order = np.argsort(runs[index], kind="stable")
        chosen = ends[index][order]
        return Followers(runs[index][order], self._flat[chosen], counts[order])
