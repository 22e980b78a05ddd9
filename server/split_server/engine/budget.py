"""How many prefill rows a pass may carry, learned from how long passes take."""

from __future__ import annotations

_GAIN = 0.25
# Prefill must end, however fast decoding is asked to be; and a first guess.
_LEAST_ROWS, _FIRST_ROWS = 4, 16
# Matrix kernels take rows in groups, and a started group costs about as much as a whole one.
_GROUP = 8
# Passes after which the time of decoding alone is measured again: it changes with the contexts and
# with whatever else the machine does, and what it is underrated by would pass for prefill's cost.
_REMEASURE = 32
# Unused and overdrawn time of decoding sessions that later passes make up for, in allowances.
_MOST_CREDIT = 1.0
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
        self._passes = 0
        self._decode: dict[int, float] = {}
        self._measured: dict[int, int] = {}
        self._extra = self._extra_rows = 0.0
        self._alone_per_row: float | None = None
        self._allowed = self._credit = 0.0

    def record(self, decoding: int, prefill_rows: int, seconds: float) -> None:
        """A pass with ``decoding`` short steps and ``prefill_rows`` took ``seconds``."""
        self._passes += 1
        if decoding == 0:
            self._alone_per_row = _smoothed(self._alone_per_row, seconds / max(1, prefill_rows))
        elif prefill_rows == 0:
            size = _size_class(decoding)
            self._decode[size] = _smoothed(self._decode.get(size), seconds)
            self._measured[size] = self._passes
        else:
            self._learn_extra(prefill_rows, max(0.0, seconds - self.decode_seconds(decoding)))

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
        """Prefill rows beside ``decoding`` sessions whose devices need ``pace`` seconds a token;
        ``decoding`` 0: they are all with their devices.

        A token then takes the pass and the device's time, on average ``stretch`` times as long as
        without the prefill. 0 now and then, to see how long that is.
        """
        together = max(1, decoding)
        if decoding and self._outdated(together):
            return 0
        per_row = self._extra / self._extra_rows if self._extra_rows else self._alone_per_row
        usual = self.decode_seconds(together)
        if not per_row or not usual:
            return _FIRST_ROWS
        self._allowed = (self._stretch - 1.0) * (usual + min(pace, usual))
        rows = int(max(0.0, self._allowed + self._credit) / per_row)
        groups = (together + rows + _GROUP // 2) // _GROUP * _GROUP
        return max(_LEAST_ROWS, min(self._max_rows, groups - together))

    def _learn_extra(self, rows: int, extra: float) -> None:
        # A ratio of sums: a pass of few rows says little about what a row costs.
        self._extra = _smoothed(self._extra, extra) if self._extra_rows else extra
        self._extra_rows = _smoothed(self._extra_rows, rows) if self._extra_rows else rows
        most = _MOST_CREDIT * self._allowed
        self._credit = max(-most, min(most, self._credit + self._allowed - extra))

    def _outdated(self, decoding: int) -> bool:
        """Whether it is time for a pass of these alone; it is tried once, whatever comes of it."""
        size = _size_class(decoding)
        if self._passes - self._measured.get(size, -_REMEASURE) < _REMEASURE:
            return False
        self._measured[size] = self._passes
        return True


def _size_class(sessions: int) -> int:
    return max(0, sessions - 1).bit_length()


def _smoothed(before: float | None, value: float) -> float:
    return value if before is None else before + _GAIN * (value - before)
