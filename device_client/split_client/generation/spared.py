"""What a sequence was spared, because its backend held rows of a prompt already."""

from __future__ import annotations

from dataclasses import dataclass

from split_wire.tensor import WireDtype, item_size
from split_wire.tiers import ALL_EXACT, Inexact

# Fewer rows take as long as the round trip that carries them.
_LEAST_TIMED = 32
_SCALE_BYTES = 4


@dataclass(frozen=True, slots=True)
class Spared:
    """Positions of a prompt that were not computed: ``held`` by the session itself, ``restored``
    from what was kept of earlier ones, ``reused`` because rows that were sent were known.

    ``bytes``: of the restored rows, which did not travel. ``seconds``: about as many as they would
    have taken, None as long as no prompt of the sequence tells. ``inexact``: which of all these
    positions are not those of the plain computation. Of those that are ``held``, ``moved`` were
    computed for other positions, and ``mended`` rows were computed anew around them; ``refused``:
    edits for which a server that offers it did not do so. ``documents`` of the ``moved`` ones were
    kept of other texts, by what they say.
    """

    held: int = 0
    restored: int = 0
    reused: int = 0
    bytes: int = 0
    seconds: float | None = None
    inexact: Inexact = ALL_EXACT
    moved: int = 0
    mended: int = 0
    refused: int = 0
    documents: int = 0


NOTHING_SPARED = Spared()


def row_bytes(width: int, dtype: WireDtype) -> int:
    """Bytes of a row of ``width`` numbers as it travels."""
    return width * item_size(dtype) + (_SCALE_BYTES if dtype == "i8" else 0)


class Pace:
    """The seconds that a row of a prompt takes, from those that were sent."""

    def __init__(self) -> None:
        self._rows, self._seconds = 0, 0.0

    def sent(self, rows: int, reused: int, seconds: float) -> None:
        """So many rows were answered after so long; where some were known, it tells nothing."""
        if rows >= _LEAST_TIMED and not reused:
            self._rows += rows
            self._seconds += seconds

    def saved(self, rows: int, took: float) -> float | None:
        """The seconds by which ``rows`` that took ``took`` came sooner; None: not known yet."""
        if not self._rows:
            return None
        return max(0.0, rows * self._seconds / self._rows - took)
