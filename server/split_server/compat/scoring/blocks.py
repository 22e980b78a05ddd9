"""Scores of tokens from the states before them: logits in blocks of rows, one block at a time."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.head import LMHead
from split_client.generation.head.ranking import rank_all
from split_client.generation.sampling.logprobs import TokenLogprobs

# Of logits that are there at once, with the copies that are made of them. A prompt of 1,024 tokens
# has 622 MB of them with a vocabulary of 151,936.
SCORE_BYTES = 64 << 20
# Products, what the head makes of each row, and all of them once more.
_COPIES = 3
_FLOAT = 4
_MOST_ROWS = 64


class BlockScores:
    """Several threads may use one: a block of one is computed while the others wait."""

    def __init__(self, head: LMHead, limit: int = SCORE_BYTES) -> None:
        self._head = head
        self._lock = threading.Lock()
        row = _COPIES * _FLOAT * head.rows.rows
        self.rows = max(1, min(_MOST_ROWS, limit // row))

    def of(
        self, states: NDArray[np.float32], tokens: Sequence[int], count: int
    ) -> list[TokenLogprobs]:
        """Of each of ``tokens`` after its state of ``states`` [n, H], and of the ``count`` most
        likely ones there. Raises InvalidHiddenState, NonFiniteLogits, TokenIdOutOfRange.
        """
        ids = self._head.rows.check_ids(tokens)
        told: list[TokenLogprobs] = []
        for begun in range(0, len(ids), self.rows):
            part = slice(begun, begun + self.rows)
            with self._lock:
                logits = self._head.logits_of_states(states[part])
                told += [
                    _scores(row, int(token), count)
                    for row, token in zip(logits, ids[part], strict=True)
                ]
                del logits
        return told


def _scores(logits: NDArray[np.float32], token: int, count: int) -> TokenLogprobs:
    exact = logits.astype(np.float64)
    first = float(exact.max())
    total = first + float(np.log(np.exp(exact - first).sum()))
    ids, best = rank_all(exact, count)
    top = zip(ids.tolist(), (best - total).tolist(), strict=True)
    return TokenLogprobs(float(exact[token]) - total, tuple(top))
