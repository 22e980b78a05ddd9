"""Turns, told by the steps alone: which steps begin one, and which ones are its next tokens.

A server does not see replies, it sees steps. A step of a few rows that are all answered (the newest
token, and perhaps a draft behind it) and that continues its session's cache, but for rejected rows
of a draft, brings the next tokens; any other step begins a turn. A step of the most rows that a
message may have is followed by the rest of its prompt.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from split_server.kv.session_cache import SessionCache
from split_server.metrics.histogram import SECONDS, Histogram
from split_wire.messages import DEFAULT_MAX_ROWS
from split_wire.returned import INTERACTIVE_ROWS


class _Turn:
    __slots__ = ("begun", "ended", "length", "sure", "unfinished")

    def __init__(self, begun: float) -> None:
        self.begun = begun
        self.ended = begun
        # Positions with the drafted ones, and without them.
        self.length = self.sure = 0
        self.unfinished = False


class Turns:
    """Seconds of one clock; lives on one thread. ``max_rows``: of one step; ``interactive_rows``:
    of one that brings the next tokens of a reply, at most.

    ``first_token``: from the arrival of a turn's first step to the hidden states of its first
    token; ``per_token``: between the answers to two steps of a reply, for each token that was
    chosen in between, the device's time and the network's included.
    """

    def __init__(
        self, max_rows: int = DEFAULT_MAX_ROWS, interactive_rows: int = INTERACTIVE_ROWS
    ) -> None:
        self._max_rows = max_rows
        self._few = interactive_rows
        self._known: WeakKeyDictionary[SessionCache, _Turn] = WeakKeyDictionary()
        self.first_token = Histogram(SECONDS)
        self.per_token = Histogram(SECONDS)

    def answered(
        self,
        cache: SessionCache,
        start: int,
        rows: int,
        begun: float,
        ended: float,
        returned: int = 1,
    ) -> None:
        """A step that kept ``start`` positions and appended ``rows`` arrived and was answered with
        ``returned`` states.
        """
        guessed = min(returned, self._few) - 1
        turn = self._known.get(cache)
        if turn is None:
            turn = self._known[cache] = _Turn(begun)
        elif not turn.sure <= start <= turn.length:
            turn.begun = begun
        elif self.is_decode(rows, returned):
            self._next_tokens(turn, start + 1, ended)
            turn.length, turn.sure, turn.ended = start + rows, start + 1, ended
            return
        elif not turn.unfinished:
            turn.begun = begun
        turn.length, turn.ended = start + rows, ended
        turn.sure = turn.length - guessed
        turn.unfinished = rows >= self._max_rows
        if not turn.unfinished:
            self.first_token.observe(ended - turn.begun)

    def is_decode(self, rows: int, returned: int) -> bool:
        """Whether a step brings the next tokens of a reply."""
        return rows == returned <= self._few

    def failed(self, cache: SessionCache) -> None:
        """A step was not answered; what comes next is a turn of its own."""
        self._known.pop(cache, None)

    def _next_tokens(self, turn: _Turn, sure: int, ended: float) -> None:
        """The positions up to ``sure`` were chosen since."""
        if turn.unfinished:
            # A prompt of exactly the most rows: its last step was answered with the first token.
            turn.unfinished = False
            self.first_token.observe(turn.ended - turn.begun)
        chosen = sure - turn.sure
        for _ in range(chosen):
            self.per_token.observe((ended - turn.ended) / chosen)
