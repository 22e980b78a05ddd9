"""How many prefill rows a pass may carry, learned from how long passes take."""

from __future__ import annotations

_GAIN = 0.25
# Prefill must end, however fast decoding is asked to be; and a first guess.
_LEAST_ROWS, _FIRST_ROWS = 4, 16
# Longest pass without a decoding session, so that whoever arrives meanwhile is served soon.
_LONGEST_PASS = 1.0
_LEAST_ROWS_ALONE = 32


class RowBudget:
    """``stretch``: a decoding session may need that many times its usual time per token while
    somebody's prefill is under way; ``max_rows``: of one pass. Times in seconds.
    """

    def __init__(self, stretch: float = 1.9, max_rows: int = 256) -> None:
        self._stretch = stretch
        self._max_rows = max_rows
        self._decode: dict[int, float] = {}
        self._extra_per_row: float | None = None
        self._alone_per_row: float | None = None

    def record(self, decoding: int, prefill_rows: int, seconds: float) -> None:
        """A pass with ``decoding`` short steps and ``prefill_rows`` took ``seconds``."""
        if prefill_rows == 0:
            size = _size_class(decoding)
            self._decode[size] = _smoothed(self._decode.get(size), seconds)
        elif decoding == 0:
            self._alone_per_row = _smoothed(self._alone_per_row, seconds / prefill_rows)
        else:
            extra = max(0.0, seconds - self.decode_seconds(decoding)) / prefill_rows
            self._extra_per_row = _smoothed(self._extra_per_row, extra)

    def decode_seconds(self, decoding: int) -> float:
        """What a pass with so many short steps and nothing else takes, 0 when it is not known."""
        size = _size_class(decoding)
        nearest = min(self._decode, key=lambda known: abs(known - size), default=None)
        return 0.0 if nearest is None else self._decode[nearest]

    def rows_alone(self) -> int:
        """Prefill rows of a pass while nobody decodes."""
        if not self._alone_per_row:
            return self._max_rows
        rows = int(_LONGEST_PASS / self._alone_per_row)
        return max(_LEAST_ROWS_ALONE, min(self._max_rows, rows))

    def rows_beside(self, decoding: int, pace: float) -> int:
        """Prefill rows beside ``decoding`` sessions whose devices need ``pace`` seconds a token.

        A token then takes the pass and the device's time, at most ``stretch`` times as long as
        without the prefill.
        """
        per_row = self._extra_per_row or self._alone_per_row
        usual = self.decode_seconds(decoding)
        if not per_row or not usual:
            return _FIRST_ROWS
        allowed = (self._stretch - 1.0) * (usual + min(pace, usual))
        return max(_LEAST_ROWS, min(self._max_rows, int(allowed / per_row)))


def _size_class(sessions: int) -> int:
    return max(0, sessions - 1).bit_length()


def _smoothed(before: float | None, value: float) -> float:
    return value if before is None else before + _GAIN * (value - before)
