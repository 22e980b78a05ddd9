"""Which parts of a chat a reply looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.chat.brightness.gathering import Gathering, Told
from split_client.chat.context.units import Unit, units_of


@dataclass(frozen=True, slots=True)
class LookedAt:
    """``unit`` of message ``number``, from 0, and its ``share`` of what the tokens of the reply
    looked at, the first position left out.
    """

    number: int
    unit: Unit
    share: float


@dataclass(frozen=True, slots=True)
class Looks:
    """``places`` before the turn of the reply, those with the largest share first; ``turn``: the
    share of that turn itself. What is left is of control tokens and of what the template adds.
    """

    places: tuple[LookedAt, ...]
    turn: float


def looks_of(gathered: Gathering) -> Looks:
    """Of all tokens of the reply whose rows are kept."""
    totals = _totals(gathered)
    whole = float(totals.sum()) or 1.0
    found = [
        LookedAt(told.number, unit, float(total) / whole)
        for told in gathered.told
        for unit, total in _by_unit(gathered, told, totals)
        if total
    ]
    found.sort(key=lambda place: -place.share)
    return Looks(tuple(found), float(totals[len(gathered.values) :].sum()) / whole)


def _totals(gathered: Gathering) -> NDArray[np.int64]:
    """Shares of each position, of all rows."""
    length = max((row.length for row in gathered.rows), default=0)
    totals = np.zeros(max(length, len(gathered.values)), np.int64)
    for row in gathered.rows:
        np.add.at(totals, row.positions, row.shares)
    totals[:1] = 0
    return totals


def _by_unit(gathered: Gathering, told: Told, totals: NDArray[np.int64]) -> list[tuple[Unit, int]]:
    """The units of a message, each with the shares of the pieces that begin in it."""
    units = units_of(gathered.chat[told.number])
    starts, sums = [unit.start for unit in units], [0] * len(units)
    for placed in told.pieces:
        point = int(told.left[placed.start])
        at = int(np.searchsorted(starts, point, side="right")) - 1
        sums[at] += int(totals[placed.piece.start : placed.piece.stop].sum())
    return list(zip(units, sums, strict=True))
