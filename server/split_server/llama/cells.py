"""Cells of the one context, and the caches of sessions in them.

llama.cpp keeps keys and values of all sessions in cells that one context has from its start; a
session is a sequence, a number below 256. What changes outside of the model's thread (a session
ends, a step is undone) is only noted here, and done before the next pass.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from split_server.kv.lineage import Lineage
from split_server.kv.session_cache import SessionCache
from split_wire.hiding.spans import Spans

# Sessions set cells aside in groups of so many.
_GROUP = 32
MOST_SEQUENCES = 256


class CellCache:
    """One session's cells. ``sequence``: its number in the context, None before its first row;
    ``held``: positions that the context has under it, which :meth:`truncate` leaves behind.
    """

    # A sequence shares its cells with none, and llama.cpp takes in no rows of another tier and
    # hides none.
    shared = cold_bytes = 0
    hidden: Spans = ()
    __slots__ = ("__weakref__", "_cells", "_length", "held", "lineage", "sequence")

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._length = self.held = 0
        self.sequence: int | None = None
        self.lineage = Lineage()

    @property
    def length(self) -> int:
        """Positions that it holds."""
        return self._length

    @property
    def capacity(self) -> int:
        """Positions that its cells hold."""
        return self._cells.capacity_for(self._length)

    @property
    def allocated_bytes(self) -> int:
        """Bytes of its cells."""
        return self.capacity * self._cells.bytes_per_cell

    def own(self, positions: int) -> int:
        """All of them."""
        return positions

    def grown_to(self, length: int) -> None:
        """The context has ``length`` positions of it now."""
        self._length = self.held = length

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` positions; nothing happens when it holds fewer."""
        self._length = min(self._length, max(length, 0))
        self._cells.note(self)

    def release(self) -> None:
        """Give all cells back; the cache is empty and may be used again."""
        self._length = 0
        self._cells.note(self)


class Cells:
    """``count`` cells of ``bytes_per_cell``, for ``sequences`` sessions at a time at most."""

    def __init__(self, count: int, bytes_per_cell: int, sequences: int) -> None:
        self.count = count
        self.bytes_per_cell = bytes_per_cell
        self._lock = threading.Lock()
        self._noted: dict[CellCache, None] = {}
        # The lowest first, so that those in use lie together.
        self._idle = list(range(sequences - 1, -1, -1))

    def new(self) -> SessionCache:
        """An empty cache in these cells."""
        return CellCache(self)

    def capacity_for(self, positions: int) -> int:
        """Cells that are set aside for ``positions``."""
        return min(-(-positions // _GROUP) * _GROUP, max(self.count, positions))

    def capacity_within(self, positions: int) -> int:
        """The most positions that ``positions`` cells can be set aside for."""
        return positions if positions >= self.count else positions // _GROUP * _GROUP

    def note(self, cache: CellCache) -> None:
        """``cache`` holds less than the context has of it, perhaps. From any thread."""
        with self._lock:
            self._noted[cache] = None

    def settle(self, remove: Callable[[int, int], None]) -> None:
        """Have the context hold what the caches say: ``remove`` takes a sequence and the position
        from which on it goes. On the model's thread, while no pass runs.
        """
        with self._lock:
            noted, self._noted = self._noted, {}
        for cache in noted:
            if cache.sequence is None:
                continue
            length = cache.length
            if length < cache.held:
                remove(cache.sequence, length)
                cache.held = length
            if not length:
                self._idle.append(cache.sequence)
                cache.sequence = None

    def begin(self, cache: CellCache) -> int:
        """The sequence of ``cache``, which gets one with its first row. On the model's thread.

        Raises RuntimeError where there are more caches than sequences, which no store allows.
        """
        if cache.sequence is None:
            if not self._idle:
                raise RuntimeError("every sequence of the context is in use")
            cache.sequence = self._idle.pop()
        return cache.sequence
