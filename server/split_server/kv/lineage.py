"""The lineage of a cache: from which position on its rows stand on rows of a worse tier.

A row depends on all before it, so that it is no better than the worst of them. What was taken in
from a tier marks the position where that began; whoever cuts the cache back below it has rows of
the better tier again.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from split_wire.tiers import ALL_EXACT, TIERS, Inexact, Tier, tier_rank

# How rows came to stand where they were not computed: an edit moved them, or moved them and had
# those computed anew that it changed most, or they are a document's that was known.
Moved: TypeAlias = Literal["moved", "blended", "documents"]
WAYS: tuple[Moved, ...] = ("moved", "blended", "documents")


class Lineage:
    """Of rows that are all exact at first."""

    def __init__(self) -> None:
        self._first: dict[Tier, int] = {}
        # Where rows begin that were computed while earlier ones were hidden, and those that were
        # computed for another place.
        self._apart: int | None = None
        self._moved: int | None = None
        self._ways = frozenset[Moved]()

    @property
    def nameless(self) -> bool:
        """Whether the names of the rows do not say what the last ones were computed from."""
        return self._apart is not None

    @property
    def moved(self) -> bool:
        """Whether some rows lie at another place than the one that they were computed for."""
        return self._moved is not None

    @property
    def ways(self) -> frozenset[Moved]:
        """How those rows came there."""
        return self._ways

    @property
    def tier(self) -> Tier:
        """That of the last row."""
        return max(self._first, key=tier_rank, default="exact")

    def took_in(self, tier: Tier, position: int) -> None:
        """Rows of ``tier`` lie behind ``position`` rows now."""
        if tier != "exact":
            self._first[tier] = min(position, self._first.get(tier, position))

    def computed_apart(self, position: int) -> None:
        """Rows were computed behind ``position`` rows, some of which were hidden from them."""
        self.took_in("approximate", position)
        self._apart = position if self._apart is None else min(position, self._apart)

    def moved_behind(self, position: int, way: Moved = "moved") -> None:
        """Rows that were computed for another place lie behind ``position`` rows now. Nobody who
        sends the same text gives them their name.
        """
        self.took_in("approximate", position)
        self._ways |= {way}
        if self._moved is None:
            self._moved = position

    def cut(self, length: int) -> None:
        """Only the first ``length`` rows are left."""
        if self._apart is not None and self._apart >= length:
            self._apart = None
        if self._moved is not None and self._moved >= length:
            self._moved, self._ways = None, frozenset()
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
