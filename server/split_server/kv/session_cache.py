"""A session's keys and values as the rest of the server sees them, whatever engine has them."""

from __future__ import annotations

from typing import Protocol

from split_server.kv.lineage import Lineage
from split_wire.hiding.spans import Spans


class SessionCache(Protocol):
    """One sequence, which grows behind its end and can be cut back to any length."""

    @property
    def length(self) -> int:
        """Positions that it holds."""

    @property
    def capacity(self) -> int:
        """Positions that it has memory for."""

    @property
    def allocated_bytes(self) -> int:
        """Bytes of that memory."""

    @property
    def shared(self) -> int:
        """How many of the first positions take another cache's memory."""

    @property
    def hidden(self) -> Spans:
        """The positions whose rows no later row sees."""

    @property
    def cold_bytes(self) -> int:
        """Bytes of their keys and values, among those of its memory."""

    @property
    def lineage(self) -> Lineage:
        """Which of the rows stand on rows that are not exact."""

    def own(self, positions: int) -> int:
        """How many of the first ``positions`` take its own memory."""

    def grown_to(self, length: int) -> None:
        """A pass has had it hold ``length`` positions."""

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` positions; nothing happens when it holds fewer."""

    def release(self) -> None:
        """Give the memory back; the cache is empty and may be used again."""


class Caches(Protocol):
    """Where caches come from, and the sizes that they have."""

    def new(self) -> SessionCache:
        """An empty one."""

    def capacity_for(self, positions: int) -> int:
        """Positions for which a cache has memory that holds ``positions``."""

    def capacity_within(self, positions: int) -> int:
        """The most positions that a cache with memory for ``positions`` may hold."""
