"""Counts of token n-grams with Witten-Bell smoothing (Witten, Bell 1991), in sorted arrays.

A context is its last tokens, 16 bits each, in one 64-bit word; so up to four, of fewer than 65,534
different ones. Two more symbols stand for a message's beginning and end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONGEST = 4
BITS = 16
Keys = NDArray[np.uint64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Grams:
    """``tokens`` [n] that were seen behind ``keys`` [n], ``weights`` [n] times."""

    keys: Keys
    tokens: Keys
    weights: Floats


@dataclass(frozen=True, slots=True)
class Order:
    """Successors of all contexts of one length; those of ``keys[i]`` are ``starts[i:i + 2]``.

    ``shares``: of the context's mass. ``rest``: what remains for shorter contexts.
    """

    keys: Keys
    starts: NDArray[np.int64]
    tokens: NDArray[np.int64]
    shares: Floats
    rest: Floats

    @classmethod
    def of(cls, parts: Iterable[Grams]) -> Order:
        """All that was counted, pooled."""
        found = list(parts)
        keys, context = np.unique(np.concatenate([p.keys for p in found]), return_inverse=True)
        tokens = np.concatenate([p.tokens for p in found])
        pair = (context.astype(np.uint64) << np.uint64(BITS)) | tokens
        pairs, place = np.unique(pair, return_inverse=True)
        weights = np.bincount(place, np.concatenate([p.weights for p in found]))
        owner = (pairs >> np.uint64(BITS)).astype(np.int64)
        starts = np.searchsorted(owner, np.arange(len(keys) + 1))
        distinct = np.diff(starts)
        whole = np.bincount(owner, weights, len(keys)) + distinct
        tokens_of = (pairs & np.uint64((1 << BITS) - 1)).astype(np.int64)
        return cls(keys, starts, tokens_of, weights / whole[owner], distinct / whole)

    def find(self, keys: Keys) -> NDArray[np.int64]:
        """The place of each of ``keys``, -1 where it was never seen."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)


def last(keys: Keys, length: int) -> Keys:
    """The last ``length`` tokens of contexts."""
    if length == LONGEST:
        return keys
    return keys & np.uint64((1 << (BITS * length)) - 1)


def grams_of(texts: list[list[int]], weight: float, begin: int, end: int) -> list[Grams]:
    """The n-grams of whole messages, for contexts of 0 to LONGEST tokens."""
    rows = [[begin] * LONGEST + text + [end] for text in texts]
    flat = np.array([token for row in rows for token in row], np.uint64)
    counted = np.concatenate([np.arange(len(row)) >= LONGEST for row in rows])
    places = np.flatnonzero(counted)
    keys = np.zeros(len(places), np.uint64)
    for back in range(LONGEST, 0, -1):
        keys = (keys << np.uint64(BITS)) | flat[places - back]
    weights = np.full(len(places), weight)
    return [Grams(last(keys, m), flat[places], weights) for m in range(LONGEST + 1)]


def grams_of_phrases(
    phrases: list[tuple[list[int], list[int], float]],
) -> list[Grams]:
    """Of (tokens before, tokens that follow, weight): the n-grams that lie within."""
    found: list[tuple[list[int], list[int], list[float]]] = [
        ([], [], []) for _ in range(LONGEST + 1)
    ]
    for before, after, weight in phrases:
        whole = before + after
        for at in range(len(before), len(whole)):
            key = 0
            found[0][0].append(0)
            found[0][1].append(whole[at])
            found[0][2].append(weight)
            for m in range(1, min(at, LONGEST) + 1):
                key |= whole[at - m] << (BITS * (m - 1))
                found[m][0].append(key)
                found[m][1].append(whole[at])
                found[m][2].append(weight)
    return [
        Grams(np.array(k, np.uint64), np.array(t, np.uint64), np.array(w, float))
        for k, t, w in found
    ]
