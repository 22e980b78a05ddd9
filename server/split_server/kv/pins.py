"""Pins: kept runs that stay although nobody uses them, and how much of that there may be."""

from __future__ import annotations

from collections.abc import Iterable

from split_server.kv.run import Run
from split_wire.errors import SplitError

# Of all that may be kept one part in so many may be pinned, so that the rest has room.
PINNED_SHARE = 2


class PinsFull(SplitError):
    """More than may be pinned (sizes in bytes)."""

    code = "pins_full"
    status = 413

    def __init__(self, needed: int, left: int) -> None:
        super().__init__(
            f"pinning this takes {needed} bytes, and {max(left, 0)} may still be pinned; "
            "wait for an earlier pin to end, or pin less"
        )


def pinned_bytes(runs: Iterable[Run], now: float, owner: str | None = None) -> int:
    """Bytes of ``runs`` that are pinned at ``now``, those of ``owner`` alone where one is named."""
    return sum(run.size for run in runs if run.pinned(now) and owner in (None, run.owner))


def room_for_pins(runs: Iterable[Run], owner: str, now: float, most: int, total: int) -> int:
    """Bytes that ``owner`` may still pin, who may have ``most`` of a pool of ``total`` pinned."""
    runs = list(runs)
    own = most - pinned_bytes(runs, now, owner)
    return min(own, total // PINNED_SHARE - pinned_bytes(runs, now))
