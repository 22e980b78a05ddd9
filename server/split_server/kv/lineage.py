"""The lineage of a cache: from which position on its rows stand on rows of a worse tier.

A row depends on all before it, so that it is no better than the worst of them. What was taken in
from a tier marks the position where that began; whoever cuts the cache back below it has rows of
the better tier again.
"""

from __future__ import annotations

from split_wire.tiers import ALL_EXACT, TIERS, Inexact, Tier, tier_rank


class Lineage:
    """Of rows that are all exact at first."""

    def __init__(self) -> None:
        self._first: dict[Tier, int] = {}
        self._moved: int | None = None

    @property
    def tier(self) -> Tier:
        """That of the last row."""
        return max(self._first, key=tier_rank, default="exact")

    def took_in(self, tier: Tier, position: int) -> None:
        """Rows of ``tier`` lie behind ``position`` rows now."""
        if tier != "exact":
            self._first[tier] = min(position, self._first.get(tier, position))

    @property
    def moved(self) -> bool:
        """Whether some rows lie at another place than the one that they were computed for."""
        return self._moved is not None

    def moved_behind(self, position: int) -> None:
        """Rows that were computed for another place lie behind ``position`` rows now. Nobody who
        sends the same text gives them their name.
        """
        self.took_in("approximate", position)
        if self._moved is None:
            self._moved = position

    def cut(self, length: int) -> None:
        """Only the first ``length`` rows are left."""
        if self._moved is not None and self._moved >= length:
            self._moved = None
        if self._first:
            self._first = {tier: at for tier, at in self._first.items() if at < length}

    def inexact(self, held: int) -> Inexact:
        """How many of ``held`` rows have which tier; a row counts with the worst it stands on."""
        if not self._first:
            return ALL_EXACT
        worst = held
        counts = dict[Tier, int]()
        for tier in reversed(TIERS):
            begins = min(self._first.get(tier, worst), worst)
            counts[tier], worst = worst - begins, begins
        return Inexact(counts["int8"], counts["approximate"])


def tiers_to(worst: Tier) -> tuple[Tier, ...]:
    """Those that are no worse, the best first."""
    return TIERS[: tier_rank(worst) + 1]


def is_worse(one: Tier, other: Tier) -> bool:
    """Whether ``one`` is worse than ``other``."""
    return tier_rank(one) > tier_rank(other)
