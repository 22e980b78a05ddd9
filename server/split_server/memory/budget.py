"""A byte budget for caches: so much in all, so much for each principal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from split_server.kv.buffers import BufferPool
from split_server.kv.cache import BufferCaches
from split_server.kv.run_pool import RunPool
from split_server.kv.session_cache import Caches, SessionCache
from split_server.memory.room import Claim, Holding
from split_server.memory.shared import Seat, SharedMemory
from split_wire.errors import CacheFull
from split_wire.hiding.spans import count

# Enough for the buffers of the next session, too little to crowd out the caches in use.
IDLE_SHARE = 8


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """Bytes of all holdings, and of one principal's."""

    total: int = 4 << 30
    per_principal: int = 4 << 30


class ByteBudget:
    """``bytes_per_position``: of keys and values over all layers.

    ``pool``: where the buffers come from and go to; without one, an eighth of the budget may wait
    idle. Idle buffers lie inside the budget: they may fill what the holdings leave of it, up to the
    bound that the pool came with. What is counted are buffers with their spare room, not rows.
    ``runs``: what is kept for later sessions; they have what holdings and idle buffers leave.
    ``caches``: where caches come from, by default that pool; ``seat``: what other models of the
    process have of the same bytes.
    """

    def __init__(
        self,
        limits: BudgetLimits,
        bytes_per_position: int,
        pool: BufferPool | None = None,
        runs: RunPool | None = None,
        caches: Caches | None = None,
        seat: Seat | None = None,
    ) -> None:
        self._seat = SharedMemory().seat() if seat is None else seat
        self._limits = limits
        self._bytes_per_position = bytes_per_position
        self._pool = BufferPool(limits.total // IDLE_SHARE) if pool is None else pool
        self._caches = BufferCaches(self._pool) if caches is None else caches
        self._max_idle = self._pool.max_idle
        self._runs = runs
        self._held: Counter[Holding] = Counter()
        self._bound_idle()

    @property
    def total(self) -> int:
        """Bytes that all holdings may take, those of other models included."""
        others = self._seat.total
        return self.own_total if others is None else min(self.own_total, others)

    @property
    def own_total(self) -> int:
        """:attr:`total`, whatever other models have."""
        return self._limits.total

    @property
    def in_use(self) -> int:
        """Bytes set aside for all holdings."""
        return sum(holding.bytes for holding in self._held)

    @property
    def bytes(self) -> int:
        """:attr:`in_use`, and the bytes of the buffers that wait for the next holding."""
        return self.in_use + self._pool.idle_bytes

    def in_use_by(self, principal: str) -> int:
        """Bytes set aside for the principal's holdings."""
        return sum(held.bytes for held in self._held if held.principal == principal)

    def new_cache(self) -> SessionCache:
        """An empty cache."""
        return self._caches.new()

    def hold(self, holding: Holding) -> None:
        """Count ``holding``, once more for whoever holds it."""
        self._held[holding] += 1

    def drop(self, holding: Holding) -> None:
        """One holder less; with the last one the buffers are given back.

        Raises KeyError for what nobody holds.
        """
        holders = self._held.pop(holding)
        if holders > 1:
            self._held[holding] = holders - 1
            return
        self._bound_idle()
        holding.cache.release()

    def grows(self, claim: Claim) -> bool:
        """Whether larger buffers are needed, or more for a reply than for the one before."""
        return sum(self._growth(claim)) > 0

    def check(self, claim: Claim, others: Sequence[Holding], *, told: bool = True) -> None:  # noqa: ARG002
        """Raise CacheFull when the step does not fit even with ``others`` dropped."""
        cache_bytes, reply_bytes = self._growth(claim)
        freed = sum(other.bytes for other in others if self._held[other] == 1)
        room = max(self._free(claim.holding.principal) + freed, 0)
        if cache_bytes + reply_bytes > room:
            cache = claim.holding.cache
            left = max(claim.holding.reserved - cache.cold_bytes + room - reply_bytes, 0)
            free_rows = left // self._bytes_per_position
            apart = cache.shared + count(cache.hidden)
            fits = apart + self._caches.capacity_within(free_rows)
            raise CacheFull(claim.positions, cache_bytes + reply_bytes, room, fits)

    def fits(self, claim: Claim) -> bool:
        """Whether the step fits as things are."""
        return sum(self._growth(claim)) <= self._free(claim.holding.principal)

    def take(self, claim: Claim) -> None:
        """Set the space aside; whether it fits was asked before."""
        cache_bytes, reply_bytes = self._growth(claim)
        if cache_bytes or reply_bytes:
            claim.holding.reserved += cache_bytes
            claim.holding.promised = reply_bytes
            self._bound_idle()

    def settle(self, holding: Holding) -> None:
        """No step of ``holding`` runs: count what its cache really holds."""
        holding.promised = 0
        holding.reserved = holding.cache.allocated_bytes
        self._bound_idle()

    def _growth(self, claim: Claim) -> tuple[int, int]:
        """Bytes by which cache and reply exceed what is set aside."""
        holding = claim.holding
        own = holding.cache.own(claim.positions)
        wanted = self._caches.capacity_for(own) * self._bytes_per_position
        wanted += holding.cache.cold_bytes
        reply_bytes = max(0, claim.reply_bytes - holding.reply_bytes)
        return max(wanted - holding.reserved, 0), reply_bytes

    def _free(self, principal: str) -> int:
        """Bytes that the principal's holdings may still take; idle buffers make way for them."""
        mine = self.in_use_by(principal) + self._seat.reserved_by(principal)
        free = self.total - self.in_use - self._seat.reserved
        return min(free, self._limits.per_principal - mine)

    def _bound_idle(self) -> None:
        self.bound()
        self._seat.bound_others()

    def bound(self) -> None:
        """Let idle buffers have what the holdings leave, and runs what those may leave."""
        others = self._seat.reserved + self._seat.waiting
        left = max(self.total - self.in_use - others, 0)
        idle = min(self._max_idle, left)
        self._pool.bound(idle)
        if self._runs is not None:
            self._runs.bound(left - idle)
