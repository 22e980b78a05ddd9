"""Forecasts whether a step fits into the memory that this process may take, before it is queued."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from weakref import WeakSet

from split_server.kv.buffers import BufferPool
from split_server.kv.session_cache import SessionCache
from split_server.memory.limit import MemoryLimit, Room, after
from split_server.memory.plan import MemoryPlan
from split_server.memory.record import PredictionRecord
from split_server.memory.shared import Seat, SharedMemory
from split_wire.errors import CacheFull

# Messages on their way, Python's own heap, and blocks too small to go back to the system.
RESERVE = 64 << 20


@dataclass(frozen=True, slots=True)
class Forecast:
    """Bytes that a step needs and bytes that are free for it."""

    needed: int
    free: int


@dataclass(frozen=True, slots=True)
class _Promise:
    """``target``: bytes that the cache will have; ``wire``: of copies of the step's rows."""

    target: int
    wire: int


class MemoryPlanner:
    """Used on the event loop alone, but for :meth:`out_of_memory`.

    ``reserve``: bytes that no plan explains and that stay free; ``pool``: whose idle buffers make
    way; ``seat``: what other models of the process have of the same memory; ``beside``: bytes that
    a process beside may take. A step that needs no larger buffers costs no reading of the limit:
    the workspace of the largest pass was left free when buffers grew.
    """

    def __init__(
        self,
        plan: MemoryPlan,
        limit: MemoryLimit,
        pool: BufferPool,
        reserve: int = RESERVE,
        seat: Seat | None = None,
        beside: int = 0,
    ) -> None:
        self.seat = SharedMemory().seat() if seat is None else seat
        self.beside = beside
        self.plan = plan
        self.limit = limit
        self.reserve = reserve
        self.record = PredictionRecord()
        self.pool = pool
        self._caches: WeakSet[SessionCache] = WeakSet()
        self._promises: dict[SessionCache, _Promise] = {}
        self._refused = 0
        self._failed = 0
        self._lock = threading.Lock()

    @property
    def refused(self) -> int:
        """Steps that were refused because they would not have fitted."""
        return self._refused

    @property
    def failed(self) -> int:
        """Passes in which memory ran out all the same."""
        return self._failed

    def grows(self, cache: SessionCache, positions: int) -> bool:
        """Whether ``positions`` need larger buffers than ``cache`` has."""
        return positions > cache.capacity

    def promise(self, cache: SessionCache, positions: int, rows: int) -> None:
        """Count the memory that an admitted step has not taken yet, until :meth:`settle`."""
        self._caches.add(cache)
        target = self.plan.cache_bytes(cache.own(positions)) + cache.cold_bytes
        target = max(target, cache.allocated_bytes)
        self._promises[cache] = _Promise(target, self.plan.wire(rows))

    def settle(self, cache: SessionCache) -> None:
        """The step of ``cache`` has ended."""
        self._promises.pop(cache, None)

    def forecast(
        self, cache: SessionCache, positions: int, rows: int, reply_bytes: int = 0
    ) -> Forecast:
        """The bytes that a step needs and that are free for it: ``cache`` is to hold ``positions``,
        ``rows`` of them new, and a large reply has ``reply_bytes``.
        """
        free = self._free(cache)
        needed = self._needed(cache, positions, rows) + reply_bytes
        return Forecast(needed, free)

    def keep_idle(self, forecast: Forecast) -> None:
        """Let recycled buffers keep no more than what the admitted step leaves."""
        self.pool.bound(max(min(self.pool.max_idle, forecast.free - forecast.needed), 0))

    def refusal(
        self,
        cache: SessionCache,
        positions: int,
        rows: int,
        forecast: Forecast,
        reclaimable: int = 0,
        *,
        told: bool = True,
    ) -> CacheFull:
        """The error for a step that does not fit even when ``reclaimable`` bytes are given up;
        counted where a client is ``told``.
        """
        self._refused += told
        free = forecast.free + reclaimable
        return CacheFull(positions, forecast.needed, free, self.fits(cache, free, rows))

    def fits(self, cache: SessionCache | None, free: int, most_rows: int) -> int:
        """The most positions that ``cache`` (None: a new one) can hold with ``free`` bytes, when
        a step brings at most ``most_rows`` of them.
        """
        lowest = 0 if cache is None else min(cache.capacity, self.plan.shape.max_context)
        highest = self.plan.shape.max_context
        while lowest < highest:
            middle = (lowest + highest + 1) // 2
            rows = min(middle, most_rows)
            if self._needed(cache, middle, rows) <= free:
                lowest = middle
            else:
                highest = middle - 1
        return lowest

    def out_of_memory(self, positions: int) -> CacheFull:
        """The error for a pass in which memory ran out; idle buffers are given up.

        From any thread.
        """
        with self._lock:
            self._failed += 1
        self.pool.clear()
        room = self.limit.room()
        needed = self.plan.cache_bytes(positions) + self.workspace(positions)
        fits = self.plan.positions_within(room.free - self.workspace(0) - self.reserve)
        return CacheFull(positions, needed, room.free, min(fits, max(positions - 1, 0)))

    def workspace(self, positions: int) -> int:
        """Bytes of the largest pass when no session holds more than ``positions``."""
        return round(self.plan.largest_workspace(positions) * self.record.correction)

    def room(self) -> Room:
        """The room that the nearest limit leaves, with the idle buffers, once promises are kept."""
        # Promises first: memory that is taken in between is counted twice rather than not at all.
        promised = self.promised() + self.seat.spoken_for
        room = self.limit.room(self.untouched() + self.seat.untouched)
        free = room.free + self.pool.idle_bytes - promised
        return replace(room, free=free)

    def rooms(self) -> list[Room]:
        """The room that each limit leaves for more weights: without what was promised, what others
        will still write, and the pass of another model that may run meanwhile.
        """
        taken = self.promised() + self.seat.spoken_for + self.seat.workspace
        untouched = self.untouched() + self.seat.untouched
        found = [after(room, untouched) for room in self.limit.rooms()]
        return [replace(room, free=room.free - taken) for room in found]

    def held(self) -> int:
        """Bytes of the buffers of all sessions."""
        return sum(cache.allocated_bytes for cache in self._caches)

    def largest(self) -> int:
        """Bytes of the largest pass over the sessions that there are."""
        return self.workspace(self._longest())

    def _free(self, cache: SessionCache) -> int:
        promised = self.promised(cache) + self.seat.spoken_for
        room = self.limit.room(self.untouched() + self.seat.untouched)
        return room.free + self.pool.idle_bytes - promised - self.reserve

    def _needed(self, cache: SessionCache | None, positions: int, rows: int) -> int:
        held = 0 if cache is None else cache.allocated_bytes - cache.cold_bytes
        own = positions if cache is None else cache.own(positions)
        growth = max(self.plan.cache_bytes(own) - held, 0)
        workspace = self.workspace(max(self._longest(), positions))
        return growth + self.plan.wire(rows) + max(workspace, self.seat.workspace)

    def _longest(self) -> int:
        return max((other.length for other in self._caches), default=0)

    def promised(self, besides: SessionCache | None = None) -> int:
        """Bytes that admitted steps have not taken yet, ``besides`` one."""
        return sum(
            max(promise.target - cache.allocated_bytes, 0) + promise.wire
            for cache, promise in self._promises.items()
            if cache is not besides
        )

    def untouched(self) -> int:
        """Bytes of buffers that are allocated and not written to."""
        row = self.plan.shape.kv_bytes_per_position
        return sum(
            max(cache.allocated_bytes - cache.cold_bytes - cache.own(cache.length) * row, 0)
            for cache in self._caches
        )
