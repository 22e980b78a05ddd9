"""Probabilities of the next token from counts (Witten and Bell 1991).

What a beginning was seen to be followed by counts the more, the oftener the beginning was there and
the fewer different tokens followed; the rest is what the beginning without its first token says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.ngram.counting import Runs, Snippet, hashed

# Of one token that nobody was seen to write.
_UNSEEN = 0.02


class Smoothed:
    """Over ``vocabulary`` tokens, with runs of up to ``longest`` tokens."""

    def __init__(self, snippets: Sequence[Snippet], vocabulary: int, longest: int) -> None:
        runs = Runs(snippets)
        counts = runs.alone(vocabulary) + _UNSEEN
        self.alone: NDArray[np.float64] = counts / counts.sum()
        self._followers = [runs.of(length) for length in range(1, longest)]

    def after(
        self, beginnings: NDArray[np.int64], tokens: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Probabilities of each of ``tokens`` [k] after each of ``beginnings`` [n, any], [n, k].

        ``tokens`` are different ones. The last ``longest`` - 1 tokens of a beginning matter.
        """
        found = np.tile(self.alone[tokens], (len(beginnings), 1))
        columns = np.full(len(self.alone), -1)
        columns[tokens] = np.arange(len(tokens))
        for length, followers in enumerate(self._followers, 1):
            if length > beginnings.shape[1]:
                break
            hashes = hashed(beginnings[:, beginnings.shape[1] - length :])
            known, at = followers.seen(hashes)
            if not len(known):
                break
            counts, totals, kinds = followers.of(at, columns, len(tokens))
            spared = kinds[:, None]
            found[known] = (counts + spared * found[known]) / (totals[:, None] + spared)
        return found
