"""An approximate reply beside the plain computation of the same: how far it is off.

All rows go once more to a session that keeps and finds nothing, since no server has the rows of
what it moved. Both are asked for their states at every token of the reply, and what the model
predicts from them is compared here, where its head is.
"""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_client.errors import ClientError
from split_client.generation.head.head import LMHead
from split_client.generation.sequence import Sequence as TokenSequence

# Never, a share of the replies, or each.
Verify: TypeAlias = Literal["audit", "full"]
# Nats, over the tokens of a reply. Of edits that nothing later depends on the largest that was seen
# is well below, of replies that follow the old text well above (docs/kv-reuse.md).
MOST_KL = 0.3
MOST_FAILURES = 3
VERIFY_SHARE = 0.01
# Distributions that are compared at a time: rows of the vocabulary.
_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Verified:
    """``tokens`` of a reply were compared. ``kl``: the mean Kullback-Leibler divergence in nats of
    what is predicted from what the plain computation predicts, ``largest`` that of a token.
    ``first``: the number of the first token, from 0 on, at which another one is the likeliest; None
    where none is.
    """

    tokens: int
    kl: float
    largest: float
    first: int | None

    @property
    def passed(self) -> bool:
        """Whether it is within what is taken for approximate."""
        return self.kl <= MOST_KL


@dataclass(slots=True)
class Record:
    """What was found of the replies of one client; after MOST_FAILURES nothing is moved for it any
    more. ``unfinished``: the server could not be asked.
    """

    passed: int = 0
    failed: int = 0
    unfinished: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def stopped(self) -> bool:
        """Whether nothing is moved any more."""
        return self.failed >= MOST_FAILURES

    def take(self, found: Verified | None) -> None:
        """Count one; None: it could not be found out."""
        with self._lock:
            if found is None:
                self.unfinished += 1
            elif found.passed:
                self.passed += 1
            else:
                self.failed += 1


class Verifier:
    """``apart`` opens a sequence on a session that keeps and finds nothing; ``share`` of the
    replies are audited, by ``draw``, a random number in [0, 1).
    """

    def __init__(
        self,
        head: LMHead,
        apart: Callable[[], TokenSequence],
        record: Record,
        share: float,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._head, self._apart = head, apart
        self.record = record
        self._share, self._draw = share, draw

    def due(self, verify: Verify) -> bool:
        """Whether the next approximate reply is to be verified."""
        return verify == "full" or self._draw() < self._share

    def tried(self, near: TokenSequence, ids: Sequence[int], prompt: int) -> Verified | None:
        """:meth:`verified`, counted; None where the server could not be asked."""
        try:
            found = self.verified(near, ids, prompt)
        except ClientError:
            self.record.take(None)
            return None
        self.record.take(found)
        return found

    def verified(self, near: TokenSequence, ids: Sequence[int], prompt: int) -> Verified:
        """What ``near`` predicts for the tokens of ``ids`` behind the first ``prompt``, against
        what is predicted where nothing was there before. Raises the errors of a step.
        """
        tokens, count = list(ids[:-1]), len(ids) - prompt
        here = near.cache(tokens, rows=count).states
        plain = self._apart()
        try:
            right = plain.cache(tokens, rows=count).states
        finally:
            plain.close()
        return compared(self._head, here, right)


def compared(head: LMHead, near: NDArray[np.float32], right: NDArray[np.float32]) -> Verified:
    """What ``head`` makes of states [n, hidden] ``near`` those that are ``right``."""
    divergences, first = list[float](), None
    for start in range(0, len(right), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        one, other = (
            head.logits_of_states(states[part]).astype(np.float64) for states in (right, near)
        )
        divergences += _divergences(one, other).tolist()
        differ = np.flatnonzero(one.argmax(1) != other.argmax(1))
        if first is None and len(differ):
            first = start + int(differ[0])
    finite = [each if math.isfinite(each) else math.inf for each in divergences]
    return Verified(len(finite), sum(finite) / max(1, len(finite)), max(finite, default=0.0), first)


def _divergences(right: NDArray[np.float64], near: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kullback-Leibler in nats [n] of logits [n, vocabulary]."""
    one, other = _log_softmax(right), _log_softmax(near)
    divergences: NDArray[np.float64] = (np.exp(one) * (one - other)).sum(1)
    return np.maximum(divergences, 0.0)


def _log_softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = logits - logits.max(1, keepdims=True)
    result: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return result
