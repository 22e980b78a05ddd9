"""The tokens of one session, as the backend has cached them.

:meth:`Sequence.extend` is the only way to move: prefill, the next token, a later turn, an edit, a
retry and a lost cache are all "make the cache hold exactly these tokens".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.errors import PromptEmpty, PromptTooLong, SessionUnstable
from split_client.generation.backend import Backend, CacheLost, StepOutput
from split_wire.attention import AttentionRequest, AttentionWeights

MAX_RESENDS = 3

Embed = Callable[[list[int]], NDArray[np.float32]]


@dataclass(slots=True)
class SequenceCounters:
    """What one sequence cost so far."""

    steps: int = 0
    rows_sent: int = 0
    rows_reused: int = 0
    resends: int = 0


@dataclass(frozen=True, slots=True)
class Extended:
    """``hidden`` float32 [H] after the last token.

    Times in seconds; ``exchange`` is the wait for the server, compute and queue included.
    ``attention``: what the last token attends to, where it was asked for.
    """

    hidden: NDArray[np.float32]
    rows: int
    exchange: float
    compute: float
    queue: float
    attention: AttentionWeights | None = None

    @property
    def wire(self) -> float:
        """Everything between the ends: transport and the server's own overhead."""
        return max(0.0, self.exchange - self.compute - self.queue)


class Sequence:
    """``embed`` maps n token ids to float32 rows [n, H]."""

    def __init__(self, backend: Backend, embed: Embed) -> None:
        self._backend = backend
        self._embed = embed
        self._cached: list[int] = []
        self.counters = SequenceCounters()

    @property
    def cached(self) -> int:
        """Positions that the backend is believed to hold."""
        return len(self._cached)

    def shared(self, tokens: list[int]) -> int:
        """How many of the first of ``tokens`` the backend is believed to hold."""
        return _common_prefix(self._cached, tokens)

    @property
    def max_context(self) -> int:
        """Positions that the session may hold; opens the session."""
        self._backend.open()
        return self._backend.max_context

    def extend(self, tokens: list[int], attention: AttentionRequest | None = None) -> Extended:
        """Make the cache hold ``tokens`` and return the hidden state after the last one.

        Sends only what differs from the cache. ``attention``: which of the last token's attention
        to return as well. Raises PromptEmpty, PromptTooLong, the backend's
        errors.
        """
        if not tokens:
            raise PromptEmpty
        for _ in range(1 + MAX_RESENDS):
            self._backend.open()
            if len(tokens) > self._backend.max_context:
                raise PromptTooLong(len(tokens), self._backend.max_context)
            try:
                return self._send_rest(tokens, attention)
            except CacheLost:
                self.counters.resends += 1
                self._cached = []
        raise SessionUnstable

    def close(self) -> None:
        """End the session."""
        self._cached = []
        self._backend.close()

    def _send_rest(self, tokens: list[int], attention: AttentionRequest | None) -> Extended:
        # The last token is always sent, because the backend returns states only for rows it is
        # given.
        start = min(_common_prefix(self._cached, tokens), len(tokens) - 1)
        self.counters.rows_reused += start
        rows, exchange, compute, queue = len(tokens) - start, 0, 0, 0
        while True:
            chunk = tokens[start : start + self._backend.max_rows]
            wanted = attention if start + len(chunk) == len(tokens) else None
            output = self._step(start, chunk, self._embed(chunk), wanted)
            exchange += output.exchange_us
            compute, queue = compute + output.compute_us, queue + output.queue_us
            start += len(chunk)
            if start == len(tokens):
                seconds = (exchange / 1e6, compute / 1e6, queue / 1e6)
                return Extended(output.hidden, rows, *seconds, output.attention)

    def _step(
        self,
        start: int,
        chunk: list[int],
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None,
    ) -> StepOutput:
        kept = self._cached
        # Until the answer is here it is unknown what the backend holds; an interruption must not
        # leave a belief.
        self._cached = []
        if attention is None:
            output = self._backend.step(start, embeddings)
        else:
            output = self._backend.step(start, embeddings, attention)
        del kept[start:]
        kept.extend(chunk)
        self._cached = kept
        self.counters.steps += 1
        self.counters.rows_sent += len(chunk)
        return output


def _common_prefix(left: list[int], right: list[int]) -> int:
    """Length of the longest common prefix."""
    length = min(len(left), len(right))
    if left[:length] == right[:length]:
        return length
    return next(i for i in range(length) if left[i] != right[i])
