"""Who may keep a connection open: how many in all, of one address, and of strangers.

A stranger is a connection none of whose requests was let in. Where too many of them stand in the
door the one that has stood there longest goes, so that they never keep out whoever comes next.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass

from split_server.security.networks import network_of
from split_wire.errors import Overloaded

_log = logging.getLogger(__name__)
_TOLD_EVERY = 60.0


@dataclass(frozen=True, slots=True)
class DoorLimits:
    """Counts of connections. ``balancers``: IP addresses that speak for many others, which only the
    counts in all hold for.
    """

    total: int = 1024
    per_address: int = 256
    strangers: int = 512
    strangers_per_address: int = 64
    balancers: Collection[str] = ()


class Place:
    """One connection's place; ``known`` once a request on it was let in.

    ``abort`` ends the connection at once: whoever holds the connection sets it.
    """

    __slots__ = ("_doors", "abort", "known", "network")

    def __init__(self, doors: Doors, network: str) -> None:
        self._doors = doors
        self.network = network
        self.abort: Callable[[], object] = _nothing
        self.known = False

    def know(self) -> None:
        """It is a stranger's no longer."""
        if not self.known:
            self.known = True
            self._doors.knows(self)

    def leave(self) -> None:
        """The connection is lost; a second time does nothing."""
        self._doors.left(self)


class Doors:
    """``clock`` in seconds, for the log."""

    def __init__(
        self, limits: DoorLimits | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = limits or DoorLimits()
        self._balancers = frozenset(network_of(one) for one in self._limits.balancers)
        self._clock = clock
        self._places: set[Place] = set()
        self._held: Counter[str] = Counter()
        # The longest standing first.
        self._strangers: OrderedDict[Place, None] = OrderedDict()
        self._sent_away = 0
        self._told_at = float("-inf")

    def __len__(self) -> int:
        return len(self._places)

    def enter(self, address: str) -> Place:
        """A place for a connection from ``address``.

        Raises Overloaded when only connections that were let in could make room.
        """
        network, limits = network_of(address), self._limits
        if network not in self._balancers:
            own = [place for place in self._strangers if place.network == network]
            full = self._held[network] >= limits.per_address
            if full or len(own) >= limits.strangers_per_address:
                self._make_room(own, f"{limits.per_address} connections of one address")
        if len(self._places) >= limits.total or len(self._strangers) >= limits.strangers:
            self._make_room(list(self._strangers), f"{limits.total} connections")
        place = Place(self, network)
        self._places.add(place)
        self._held[network] += 1
        self._strangers[place] = None
        return place

    def knows(self, place: Place) -> None:
        """``place`` is no stranger's."""
        self._strangers.pop(place, None)

    def left(self, place: Place) -> None:
        """Count ``place`` no longer."""
        if place not in self._places:
            return
        self._places.remove(place)
        self._strangers.pop(place, None)
        self._held[place.network] -= 1
        if not self._held[place.network]:
            del self._held[place.network]

    def _make_room(self, strangers: list[Place], what: str) -> None:
        self._tell()
        if not strangers:
            raise Overloaded(f"this server has {what}, and all are in use")
        self.left(strangers[0])
        strangers[0].abort()

    def _tell(self) -> None:
        """One line a minute, however many are sent away."""
        self._sent_away += 1
        if self._clock() - self._told_at < _TOLD_EVERY:
            return
        self._told_at = self._clock()
        _log.warning("the door is crowded: %d connections sent away so far", self._sent_away)


def _nothing() -> None:
    """There is no connection yet."""
