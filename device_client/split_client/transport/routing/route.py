"""The way of one channel to a machine behind a balancer, and the leaving of one that is full."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from weakref import WeakSet

from split_client.transport.routing.ids import new_id


class Holder(Protocol):
    """The device's side of a session."""

    @property
    def opened(self) -> object | None:
        """Whatever the server agreed to, None where no session is open."""


class Route:
    """``id``: the routing id that connections are made with; another one each time by default."""

    def __init__(self, id: str | None = None, make: Callable[[], str] = new_id) -> None:
        self._make = make
        self.id = make() if id is None else id
        self._holders: WeakSet[Holder] = WeakSet()

    def carries(self, holder: Holder) -> None:
        """Sessions of ``holder`` go this way."""
        self._holders.add(holder)

    def is_free(self, holder: Holder) -> bool:
        """Whether nobody but ``holder`` has a session at its end, which it would lose by another
        way.
        """
        return all(other is holder or other.opened is None for other in self._holders)

    def change(self, id: str | None = None) -> None:
        """Connections that are made from here on go another way."""
        self.id = self._make() if id is None else id
