"""The budget of prefill rows that a pass may carry, learned from how long passes take."""

from __future__ import annotations

import torch

# Of one pass. Fewer rows take a GPU as long as that many of them.
PASS_ROWS, _GPU_PASS_ROWS = 256, 2048
_GAIN = 0.25
# Prefill must end, however fast decoding is asked to be; and a first guess.
_LEAST_ROWS, _FIRST_ROWS = 4, 16
# Passes are filled up to whole groups of rows anyway (PackedBatch).
_GROUP = 8
# Passes after which decoding alone is timed again. It becomes slower with the contexts and with
# whatever else the machine does; taken for the cost of prefill rows, that would leave them the
# least for as long as prefills wait.
_REMEASURE = 32
# Longest pass without a decoding session, so that whoever arrives meanwhile is served soon.
_LONGEST_PASS = 1.0
_LEAST_ROWS_ALONE = 32


def pass_rows(device: torch.device) -> int:
    """The most rows of one pass on ``device``."""
    return PASS_ROWS if device.type == "cpu" else _GPU_PASS_ROWS


class RowBudget:
    """``stretch``: a decoding session may need that many times its usual time per token, on
    average, while somebody's prefill is under way; ``max_rows``: of one pass; ``flat``: a pass over
    fewer rows takes about as long. Times in seconds.
    """

    def __init__(
        self, stretch: float = 1.9, max_rows: int = PASS_ROWS, *, flat: bool = False
    ) -> None:
        self.stretch = stretch
        self._max_rows = max_rows
        self._flat = flat
        self._passes = 0
        self._decode: dict[int, float] = {}
        self._timed: dict[int, int] = {}
        # A ratio of sums: a pass of few rows says little about what a row costs.
        self._extra: float | None = None
        self._extra_rows: float | None = None
        self._alone_per_row: float | None = None
        # What the pass at hand may add to a token, and what earlier ones left of that.
        self._allowed = self._credit = 0.0

    def record(self, decoding: int, prefill_rows: int, seconds: float) -> None:
        """A pass with ``decoding`` rows of short steps and ``prefill_rows`` took ``seconds``."""
        self._passes += 1
        if decoding == 0:
            self._alone_per_row = _smoothed(self._alone_per_row, seconds / prefill_rows)
            # A token that comes meanwhile waits for half of the pass.
            self._settle(seconds / 2)
            return
        if prefill_rows == 0:
            size = _size_class(decoding)
            self._decode[size] = _smoothed(self._decode.get(size), seconds)
            self._timed[size] = self._passes
        extra = max(0.0, seconds - self.decode_seconds(decoding))
        if prefill_rows:
            self._extra = _smoothed(self._extra, extra)
            self._extra_rows = _smoothed(self._extra_rows, prefill_rows)
        self._settle(extra)

    def decode_seconds(self, decoding: int) -> float:
        """The time of a pass with so many rows of short steps alone, 0 when it is not known."""
        size = _size_class(decoding)
        # A copy: whoever asks may run beside the thread that records.
        known = dict(self._decode)
        nearest = min(known, key=lambda one: abs(one - size), default=None)
        return 0.0 if nearest is None else known[nearest]

    def rows_alone(self) -> int:
        """Prefill rows of a pass while nobody decodes."""
        if not self._alone_per_row or self._flat:
            return self._max_rows
        rows = int(_LONGEST_PASS / self._alone_per_row)
        return max(_LEAST_ROWS_ALONE, min(self._max_rows, rows))

    def rows_beside(self, decoding: int, pace: float) -> int:
        """Prefill rows beside ``decoding`` rows of short steps whose devices need ``pace`` seconds
        a token; 0 rows: they are all with their devices.

        A token then takes the pass and the device's time, on average ``stretch`` times as long as
        without the prefill. Now and then there are no rows, to see how long that is.
        """
        together = max(1, decoding)
        usual = self.decode_seconds(together)
        self._allowed = (self.stretch - 1.0) * (usual + min(pace, usual))
        if decoding and self._outdated(decoding):
            return 0
        per_row = self._alone_per_row
        if self._extra is not None and self._extra_rows:
            per_row = self._extra / self._extra_rows
        if not per_row or not usual:
            return _FIRST_ROWS
        rows = int(max(0.0, self._allowed + self._credit) / per_row)
        groups = (together + rows + _GROUP // 2) // _GROUP * _GROUP
        return max(_LEAST_ROWS, min(self._max_rows, groups - together))

    def _outdated(self, decoding: int) -> bool:
        """Whether it is time for a pass of these alone; asked once, whatever comes of it."""
        size = _size_class(decoding)
        if self._passes - self._timed.setdefault(size, self._passes) < _REMEASURE:
            return False
        self._timed[size] = self._passes
        return True

    def _settle(self, extra: float) -> None:
        """Keep what a pass left of its allowance, or took beyond it, up to one allowance."""
        credit = self._credit + self._allowed - extra
        self._credit = max(-self._allowed, min(self._allowed, credit))
        self._allowed = 0.0


def _size_class(rows: int) -> int:
    return max(0, rows - 1).bit_length()


def _smoothed(before: float | None, value: float) -> float:
    return value if before is None else before + _GAIN * (value - before)
