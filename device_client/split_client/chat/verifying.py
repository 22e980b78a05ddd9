"""An approximate reply beside the plain computation of the same: how far it is off.

All rows go once more to a session that keeps and finds nothing, since no server has the rows of
what it moved. Both are asked for their states at every token of the reply, and what the model
predicts from them is compared here, where its head is.
"""

from __future__ import annotations

import math
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_client.chat.reply import ReplyStats
from split_client.errors import ClientError
from split_client.generation.head.head import LMHead
from split_client.generation.sequence import Sequence as TokenSequence

# Never, a share of the replies, or each.
Verify: TypeAlias = Literal["audit", "full"]
# How rows of a session came where they were not computed: an edit moved them, or they are those of
# documents that the server knew.
Way: TypeAlias = Literal["moved", "documents"]
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
    """What was found of the replies of one client; after MOST_FAILURES that stand on rows that came
    there in one way, nothing is done that way for it any more. ``unfinished``: the server could not
    be asked.
    """

    passed: int = 0
    failed: int = 0
    unfinished: int = 0
    _failures: Counter[Way] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def stopped(self, way: Way) -> bool:
        """Whether nothing is done that way any more."""
        return self._failures[way] >= MOST_FAILURES

    def take(self, found: Verified | None, ways: Iterable[Way]) -> None:
        """Count one that stands on rows that came there in ``ways``; None: it could not be found
        out.
        """
        with self._lock:
            if found is None:
                self.unfinished += 1
            elif found.passed:
                self.passed += 1
            else:
                self.failed += 1
                self._failures.update(ways)


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

    def tried(
        self, near: TokenSequence, ids: Sequence[int], prompt: int, ways: Iterable[Way] = ()
    ) -> Verified | None:
        """:meth:`verified`, counted for rows that came there in ``ways``; None where the server
        could not be asked.
        """
        try:
            found = self.verified(near, ids, prompt)
        except ClientError:
            self.record.take(None, ways)
            return None
        self.record.take(found, ways)
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


class Checks:
    """Has approximate replies of one session computed plainly as well, and ends it after one that
    is too far off, so that the next reply is exact.
    """

    def __init__(self, verifier: Verifier, sequence: TokenSequence) -> None:
        self._verifier, self._sequence = verifier, sequence
        # How rows of the session came where they were not computed.
        self._ways = set[Way]()
        record = verifier.record
        sequence.edits.allowed = lambda: not record.stopped("moved")
        sequence.documents.allowed = lambda: not record.stopped("documents")

    def after(
        self, verify: Verify, stats: ReplyStats, ids: tuple[int, ...], prompt: int
    ) -> Verified | None:
        """What was found of a reply with ``stats``; ``ids``: ``prompt`` tokens and its own."""
        if not stats.prompt_tiers.approximate:
            self._ways.clear()
            return None
        if stats.prompt_documents:
            self._ways.add("documents")
        if stats.prompt_moved > stats.prompt_documents:
            self._ways.add("moved")
        # What a reply was not to see is seen by the plain computation.
        if self._sequence.hidden_of(list(ids)) or not self._verifier.due(verify):
            return None
        found = self._verifier.tried(self._sequence, ids, prompt, self._ways)
        if found is not None and not found.passed:
            self._sequence.close()
        return found
