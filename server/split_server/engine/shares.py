"""Shares of the model by principal: the rows served so far, in virtual time.

Start-time fair queueing (Goyal, Vin and Cheng 1996): whoever was served the fewest rows goes first.
Idleness earns no credit, and a pause does not wipe out what was served.
"""

from __future__ import annotations

from collections.abc import Iterable


class Shares:
    """Rows served by principal; those who wait are compared, the others forgotten in time."""

    def __init__(self) -> None:
        self._waiting: set[str] = set()
        self._served: dict[str, int] = {}
        # The least that anybody who waited at the last pass had been served.
        self._now = 0

    def __len__(self) -> int:
        """Principals that are remembered."""
        return len(self._served)

    def arrived(self, principal: str) -> None:
        """A step of ``principal`` waits."""
        if principal not in self._waiting:
            self._waiting.add(principal)
            self._served[principal] = max(self._served.get(principal, 0), self._now)

    def left(self, principal: str) -> None:
        """No step of ``principal`` waits any more."""
        self._waiting.discard(principal)

    def serve(self, principal: str, rows: int) -> None:
        """A pass takes ``rows`` of a principal that waits."""
        self._served[principal] += rows

    def advance(self) -> None:
        """A pass begins: what those who wait have all been served is forgotten."""
        if not self._waiting:
            self._served.clear()
            self._now = 0
            return
        self._now = max(self._now, min(self._served[one] for one in self._waiting))
        self._served = {
            one: served
            for one, served in self._served.items()
            if one in self._waiting or served > self._now
        }

    def ordered(self, principals: Iterable[str]) -> list[str]:
        """``principals`` that wait, the least served first."""
        return sorted(principals, key=self._served.__getitem__)
