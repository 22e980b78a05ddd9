"""From how many sessions on a common beginning of so many positions is held once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SharingRule:
    """``steps``: positions that a beginning has at least, and from how many sessions on such a one
    is shared; longer ones for fewer sessions, or as many.
    """

    steps: tuple[tuple[int, int], ...]

    def least(self, positions: int) -> int | None:
        """Sessions that share a beginning of so many ``positions``; None where it is too short."""
        return min((count for length, count in self.steps if length <= positions), default=None)

    def pays(self, positions: int, sessions: int) -> bool:
        """Whether so many ``sessions`` share a beginning of ``positions``."""
        least = self.least(positions)
        return least is not None and sessions >= least

    def __str__(self) -> str:
        return ", ".join(
            f"{length} positions from {count} sessions on" for length, count in self.steps
        )
