"""Room for caches in a process whose memory is planned: what cannot fit is refused first."""

from __future__ import annotations

from collections.abc import Sequence

from split_server.kv.run_pool import RunPool
from split_server.kv.session_cache import Caches, SessionCache
from split_server.memory.allocator import give_back_free_blocks
from split_server.memory.budget import BudgetLimits, ByteBudget
from split_server.memory.planner import RESERVE, Forecast, MemoryPlanner
from split_server.memory.room import Claim, Holding

# A reply of so many bytes fits into the reserve.
_SMALL_REPLY = 1 << 20
_ENDLESS = 1 << 62


class MeasuredRoom:
    """A byte budget, and refusal by measurement of what it would let pass.

    The budget divides memory among principals; other processes, messages and fragments may have
    taken some of it meanwhile. ``runs``: what is kept for later sessions; ``apart``: in other
    memory than the caches, so that it need not make way for them; ``caches``: where those come
    from, by default the planner's pool.
    """

    def __init__(
        self,
        limits: BudgetLimits,
        planner: MemoryPlanner,
        runs: RunPool | None = None,
        *,
        apart: bool = False,
        caches: Caches | None = None,
    ) -> None:
        bytes_per_position = planner.plan.shape.kv_bytes_per_position
        self._yielding = None if apart else runs
        # What an engine has from its start is no part of what models share.
        self._apart = caches is not None
        seat = None if self._apart else planner.seat
        pool = planner.pool
        self.budget = ByteBudget(limits, bytes_per_position, pool, self._yielding, caches, seat)
        self.planner = planner
        self.runs = runs
        # Other models of the process count it from now on.
        planner.seat.take(self)
        planner.seat.bound_others()

    @property
    def yielding_bytes(self) -> int:
        """Bytes of what is kept for later sessions and makes way for those in use."""
        return 0 if self._yielding is None else self._yielding.held_bytes

    def close(self) -> None:
        """Its model has gone: nothing is kept, and other models have the memory."""
        self.planner.pool.bound(0)
        if self.runs is not None:
            self.runs.bound(0)
        self.planner.seat.leave()

    @property
    def bytes(self) -> int:
        """Bytes set aside for all holdings, and of the buffers that wait for the next one."""
        return self.budget.bytes

    @property
    def promised(self) -> int:
        """Bytes that admitted steps have not taken yet."""
        return self.planner.promised()

    @property
    def untouched(self) -> int:
        """Bytes of buffers that are allocated and not written to."""
        return self.planner.untouched()

    @property
    def workspace(self) -> int:
        """Bytes of the largest pass."""
        return self.planner.largest()

    @property
    def beside(self) -> int:
        """Bytes that a process beside may take."""
        return self.planner.beside

    @property
    def texts(self) -> int:
        """Bytes that stay free beside those that stay so once for all models."""
        return max(self.planner.reserve - RESERVE, 0)

    @property
    def reserved(self) -> int:
        """Bytes set aside for all holdings, of those that models share."""
        return 0 if self._apart else self.budget.in_use

    @property
    def written(self) -> int:
        """Bytes of memory that caches and what waits have written to."""
        return 0 if self._apart else self.planner.held() - self.untouched + self.waiting

    @property
    def waiting(self) -> int:
        """Bytes of idle buffers and of what makes way."""
        return self.planner.pool.idle_bytes + self.yielding_bytes

    @property
    def total(self) -> int:
        """Bytes that holdings may take when there is no other model."""
        return _ENDLESS if self._apart else self.budget.own_total

    def reserved_by(self, principal: str) -> int:
        """Bytes of :attr:`reserved` that are the principal's."""
        return 0 if self._apart else self.budget.in_use_by(principal)

    def bound(self) -> None:
        """Let what waits have what all holdings leave."""
        self.budget.bound()

    def give_way(self, size: int) -> None:
        """Free idle buffers and what makes way, ``size`` bytes of them or all."""
        before = self.waiting
        self.planner.pool.trim(size)
        left = size - (before - self.waiting)
        if self._yielding is not None and left > 0:
            self._yielding.release(left)

    def new_cache(self) -> SessionCache:
        """An empty cache over the planner's pool."""
        return self.budget.new_cache()

    def hold(self, holding: Holding) -> None:
        """Count ``holding``, once more for whoever holds it."""
        self.budget.hold(holding)

    def drop(self, holding: Holding) -> None:
        """One holder less; with the last one the buffers are given back."""
        self.budget.drop(holding)

    def grows(self, claim: Claim) -> bool:
        """Whether the budget has to give more, or memory has to be asked."""
        return self.budget.grows(claim) or self._asks(claim)

    def check(self, claim: Claim, others: Sequence[Holding], *, told: bool = True) -> None:
        """Raise CacheFull when the step does not fit even with ``others`` dropped."""
        if self._asks(claim):
            forecast = self._forecast(claim)
            if forecast.needed > forecast.free:
                give_back_free_blocks()
                forecast = self._forecast(claim)
            reclaimable = sum(other.cache.allocated_bytes for other in others)
            reclaimable += self.yielding_bytes + self.planner.seat.waiting
            if forecast.needed > forecast.free + reclaimable:
                raise self.planner.refusal(*_step(claim), forecast, reclaimable, told=told)
        self.budget.check(claim, others)

    def fits(self, claim: Claim) -> bool:
        """Whether the step fits as things are; idle buffers are freed where it needs them gone."""
        if not self.budget.fits(claim):
            return False
        if not self._asks(claim):
            return True
        forecast = self._sure_forecast(claim)
        return forecast.needed <= forecast.free

    def take(self, claim: Claim) -> None:
        """Set the space aside. Raises CacheFull, and then nothing is set aside."""
        if self._asks(claim):
            forecast = self._sure_forecast(claim)
            if forecast.needed > forecast.free:
                raise self.planner.refusal(*_step(claim), forecast)
            self.budget.take(claim)
            self.planner.keep_idle(forecast)
        else:
            self.budget.take(claim)
        self.planner.promise(*_step(claim))

    def settle(self, holding: Holding) -> None:
        """No step of ``holding`` runs: count what its cache really holds."""
        self.budget.settle(holding)
        self.planner.settle(holding.cache)

    def _asks(self, claim: Claim) -> bool:
        """Whether the step takes so much that memory is measured for it."""
        larger = self.planner.grows(claim.holding.cache, claim.positions)
        return larger or claim.reply_bytes > _SMALL_REPLY

    def _sure_forecast(self, claim: Claim) -> Forecast:
        """A forecast that holds without the idle buffers, which are freed where it would not.

        They count whole, though pages of theirs that nobody wrote to were never taken.
        """
        forecast = self._forecast(claim)
        if forecast.needed > forecast.free - self.planner.pool.idle_bytes:
            self.planner.pool.clear()
            forecast = self._forecast(claim)
        runs = self._yielding
        if runs is not None and forecast.needed > forecast.free and len(runs):
            runs.release(forecast.needed - forecast.free)
            forecast = self._forecast(claim)
        if forecast.needed > forecast.free:
            seat = self.planner.seat
            if seat.give_way(forecast.needed - forecast.free):
                forecast = self._forecast(claim)
        return forecast

    def _forecast(self, claim: Claim) -> Forecast:
        return self.planner.forecast(*_step(claim), claim.reply_bytes)


def _step(claim: Claim) -> tuple[SessionCache, int, int]:
    """The step of ``claim`` as the planner has it: cache, positions, rows."""
    cache = claim.holding.cache
    return cache, claim.positions, max(claim.positions - cache.length, 1)
