"""The session store of a process whose memory is planned: what cannot fit is refused first."""

from __future__ import annotations

from split_server.kv.cache import KVCache
from split_server.memory.allocator import give_back_free_blocks
from split_server.memory.planner import MemoryPlanner
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore, StoreLimits

# A reply of so many bytes fits into the reserve.
_SMALL_REPLY = 1 << 20


class PlannedStore(SessionStore):
    """Refuses by measurement what the budget of ``limits`` would let pass.

    The budget divides memory among principals; other processes, messages and fragments may have
    taken some of it meanwhile.
    """

    def __init__(self, limits: StoreLimits, planner: MemoryPlanner) -> None:
        super().__init__(limits, planner.plan.shape.kv_bytes_per_position, pool=planner.pool)
        self.planner = planner
        self.budget = limits.max_bytes

    @property
    def reserved(self) -> int:
        """Bytes set aside for all sessions."""
        return self.bytes - self.planner.pool.idle_bytes

    def reserve(self, session: Session, positions: int, reply_bytes: int = 0) -> None:
        """As :meth:`SessionStore.reserve`; the principal's idle sessions are also given up when
        memory is short.

        Raises UnknownSession, CacheFull.
        """
        cache = session.cache
        wanted = (cache, positions, max(positions - cache.length, 1), reply_bytes)
        larger = self.planner.grows(cache, positions) or reply_bytes > _SMALL_REPLY
        if larger:
            self._check(self._spare(session), *wanted)
        super().reserve(session, positions, reply_bytes)
        if larger:
            self._make_room(session, *wanted)
        self.planner.promise(*wanted[:3])

    def settle(self, session: Session) -> None:
        """A step has ended: count what the cache really holds."""
        super().settle(session)
        self.planner.settle(session.cache)

    def _check(
        self, others: list[Session], cache: KVCache, positions: int, rows: int, reply_bytes: int
    ) -> None:
        """Raise CacheFull for a step that would not fit with all ``others`` given up."""
        forecast = self.planner.forecast(cache, positions, rows, reply_bytes)
        if forecast.needed > forecast.free:
            give_back_free_blocks()
            forecast = self.planner.forecast(cache, positions, rows, reply_bytes)
        reclaimable = sum(other.cache.allocated_bytes for other in others)
        if forecast.needed > forecast.free + reclaimable:
            raise self.planner.refusal(cache, positions, rows, forecast, reclaimable)

    def _make_room(
        self, session: Session, cache: KVCache, positions: int, rows: int, reply_bytes: int
    ) -> None:
        """Give up idle sessions, the longest idle first, until the step fits."""
        # Read again: the budget may have had some of them given up.
        forecast = self.planner.forecast(cache, positions, rows, reply_bytes)
        for other in self._spare(session):
            if forecast.needed <= forecast.free:
                break
            self.lose(other)
            self.planner.pool.clear()
            forecast = self.planner.forecast(cache, positions, rows, reply_bytes)
        if forecast.needed > forecast.free:
            super().settle(session)
            raise self.planner.refusal(cache, positions, rows, forecast)
        self.planner.keep_idle(forecast)
