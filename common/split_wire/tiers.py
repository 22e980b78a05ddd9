"""Tiers of kept keys and values: how near they are to those of the plain computation.

``exact``: bit for bit what a session computed; ``int8``: that, rounded to whole numbers;
``approximate``: computed behind other rows than those that precede them now. The rows of a cache
have the tier of the worst ones that they stand on, so that tiers never get better with the
position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from split_wire.errors import MalformedMessage, UnknownCache
from split_wire.fields import Fields

Tier: TypeAlias = Literal["exact", "int8", "approximate"]
# The best first.
TIERS: tuple[Tier, ...] = ("exact", "int8", "approximate")
# What a device may ask for: the worst tier that it takes, or nothing kept at all.
Cache: TypeAlias = Literal["exact", "int8", "approximate", "off"]
CACHES: tuple[Cache, ...] = ("exact", "int8", "approximate", "off")


@dataclass(frozen=True, slots=True)
class Inexact:
    """Of the positions of a cache those that are not ``exact``, by tier. They are the last ones:
    first come those of ``int8``, then the ``approximate`` ones.
    """

    int8: int = 0
    approximate: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.int8 + self.approximate

    def within(self, held: int, first: int) -> Inexact:
        """Those among the ``first`` of ``held`` positions."""
        exact = max(0, held - self.total)
        int8 = min(max(0, first - exact), self.int8)
        return Inexact(int8, min(max(0, first - exact - self.int8), self.approximate))

    def counts(self) -> dict[str, int]:
        """By the names of the tiers that there are."""
        named = {"int8": self.int8, "approximate": self.approximate}
        return {tier: count for tier, count in named.items() if count}


ALL_EXACT = Inexact()


def tier_rank(tier: Tier) -> int:
    """0 for the best."""
    return TIERS.index(tier)


def worse(one: Tier, other: Tier) -> Tier:
    """The worse of two tiers."""
    return max(one, other, key=tier_rank)


def cache_asked(value: str | None) -> Cache:
    """What a device asks for. Raises UnknownCache."""
    if value is None:
        return "exact"
    for cache in CACHES:
        if value == cache:
            return cache
    raise UnknownCache(value)


def inexact_field(value: Any) -> Inexact:
    """The map of a message, whose other keys are ignored. Raises MalformedMessage."""
    if value is None:
        return ALL_EXACT
    if not isinstance(value, Mapping):
        raise MalformedMessage("'tiers' must be a map")
    fields = Fields(value)
    return Inexact(fields.optional_count("int8"), fields.optional_count("approximate"))
