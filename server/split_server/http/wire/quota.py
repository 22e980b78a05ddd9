"""The quota of one principal: how much of something it may hold at once."""

from __future__ import annotations

from collections import Counter
from typing import Self

from split_wire.errors import Overloaded


class Quota:
    """At most ``limit`` of ``what`` (a count, or bytes) per principal."""

    def __init__(self, limit: int, what: str) -> None:
        self._limit = limit
        self._what = what
        self._held: Counter[str] = Counter()

    def reach(self, limit: int) -> None:
        """Let a principal hold ``limit`` where that is more than it might before."""
        self._limit = max(self._limit, limit)

    def hold(self, principal: str, amount: int = 1) -> Share:
        """A share of ``amount`` for a ``with`` statement. Raises Overloaded."""
        share = Share(self, principal)
        share.resize(amount)
        return share

    def move(self, principal: str, before: int, after: int) -> None:
        """Count ``after`` instead of ``before``. Raises Overloaded, and then nothing changes."""
        if after > before and self._held[principal] - before + after > self._limit:
            raise Overloaded(f"you may have {self._limit} {self._what} at a time")
        self._held[principal] += after - before
        if not self._held[principal]:
            del self._held[principal]


class Share:
    """One holder's share of its principal's quota, until it leaves its ``with`` statement."""

    __slots__ = ("_amount", "_principal", "_quota")

    def __init__(self, quota: Quota, principal: str) -> None:
        self._quota = quota
        self._principal = principal
        self._amount = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.resize(0)

    def resize(self, amount: int) -> None:
        """Hold ``amount``. Raises Overloaded when that is too much more, and keeps what it had."""
        self._quota.move(self._principal, self._amount, amount)
        self._amount = amount
