"""Brightness of a chat's tokens: what each row of attention adds to it, and takes from it.

Whole numbers alone, so that any language computes the very same (``tests/vectors/brightness.json``;
docs/brightness.md says why each number is what it is). No product is above 2^53.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_client.chat.brightness.errors import BrightnessInvalid

# A share of 1. Weights in f16 are whole numbers of it.
ONE: Final = 1 << 24
# Positions that a row may be over.
MOST_POSITIONS: Final = 1 << 23
BRIGHTEST: Final = 65535
# What a token begins with.
BORN: Final = 32768
# A uniform share, in the unit of votes; a vote counts what is above it, up to so much.
UNIFORM: Final = 64
MOST_VOTE: Final = 16 * UNIFORM
# Brightness for a vote of one uniform share.
GAIN: Final = 256
# At that distance a vote counts half.
NEAR: Final = 64
# What a token loses for each row that does not vote for it.
FALL: Final = 8


@dataclass(frozen=True, slots=True)
class Row:
    """What one token of a reply looked at: ``shares`` of ONE of ``positions``, each named once, of
    the ``length`` that were there; of others it is not known, and counts as nothing.
    """

    positions: NDArray[np.int64]
    shares: NDArray[np.int64]
    length: int


def new(count: int) -> NDArray[np.int64]:
    """Of tokens that no reply has looked at yet."""
    return np.full(count, BORN, np.int64)


def votes(row: Row) -> NDArray[np.int64]:
    """Of each position of ``row``; 0 where its share is no more than uniform.

    The first position has none: it takes the attention that no token needs (an attention sink).
    Shares are those of what is left without it.
    """
    others = np.where(row.positions > 0, row.shares, 0)
    left = max(1, int(others.sum()))
    lift = others * (row.length - 1) * UNIFORM // left
    found: NDArray[np.int64] = np.clip(lift - UNIFORM, 0, MOST_VOTE)
    return found


def look(brightness: NDArray[np.int64], row: Row) -> None:
    """Have ``brightness`` of the first tokens of a context be that after ``row``, whose other
    positions are immune: those of the turn that the reply belongs to.

    Raises BrightnessInvalid for more tokens than the row is over.
    """
    count = len(brightness)
    if not count <= row.length <= MOST_POSITIONS:
        raise BrightnessInvalid(
            f"a row of attention over {row.length:,} positions tells nothing of {count:,} tokens"
        )
    found = votes(row)
    voted = (found > 0) & (row.positions < count)
    places, distance = row.positions[voted], row.length - row.positions[voted]
    gain = found[voted] * GAIN * distance // ((distance + NEAR) * UNIFORM)
    seen = brightness[places]
    brightness[1:] -= FALL
    brightness[places] = seen + gain
    np.clip(brightness, 0, BRIGHTEST, out=brightness)
