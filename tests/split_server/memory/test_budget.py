"""A byte budget counts what is held, once, and refuses in words what does not fit."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import torch

from split_server.kv.buffers import BufferPool
from split_server.kv.cache import KVCache
from split_server.memory.budget import BudgetLimits, ByteBudget
from split_server.memory.room import Claim
from split_wire.errors import CacheFull

BYTES_PER_POSITION = 8
UNIT = 32 * BYTES_PER_POSITION


@dataclass(eq=False)
class Block:
    """A holding that is no session."""

    principal: str
    cache: KVCache = field(default_factory=KVCache)
    reserved: int = 0
    promised: int = 0
    reply_bytes: int = 0

    @property
    def bytes(self) -> int:
        return self.reserved + self.promised + self.reply_bytes


def filled(budget: ByteBudget, principal: str, positions: int) -> Block:
    """A block of ``principal`` that holds ``positions``."""
    block = Block(principal, budget.new_cache())
    budget.hold(block)
    budget.take(Claim(block, positions))
    rows = torch.zeros(1, 1, positions, 1)
    block.cache.layer(0).append(rows, rows)
    block.cache.grown_to(positions)
    budget.settle(block)
    return block


def test_what_several_hold_counts_once_and_goes_with_the_last_of_them() -> None:
    pool = BufferPool(10 * UNIT)
    budget = ByteBudget(BudgetLimits(10 * UNIT), BYTES_PER_POSITION, pool)
    block = filled(budget, "ann", 32)
    budget.hold(block)
    assert budget.in_use == UNIT
    budget.drop(block)
    assert (budget.in_use, block.cache.length) == (UNIT, 32)
    budget.drop(block)
    assert (budget.in_use, block.cache.length, pool.idle_bytes) == (0, 0, UNIT)


def test_what_is_held_elsewhere_too_is_not_freed_by_giving_it_up_here() -> None:
    budget = ByteBudget(BudgetLimits(3 * UNIT), BYTES_PER_POSITION)
    mine, shared = filled(budget, "ann", 32), filled(budget, "ann", 64)
    budget.check(Claim(mine, 64), [shared])
    budget.hold(shared)
    with pytest.raises(CacheFull):
        budget.check(Claim(mine, 64), [shared])


def test_dropping_what_nobody_holds_is_a_fault_and_changes_nothing() -> None:
    budget = ByteBudget(BudgetLimits(3 * UNIT), BYTES_PER_POSITION)
    block = filled(budget, "ann", 32)
    budget.drop(block)
    with pytest.raises(KeyError):
        budget.drop(block)
    assert budget.in_use == 0


def test_a_claim_within_what_is_set_aside_asks_for_nothing() -> None:
    budget = ByteBudget(BudgetLimits(UNIT), BYTES_PER_POSITION)
    block = filled(budget, "ann", 20)
    assert not budget.grows(Claim(block, 32))
    assert budget.grows(Claim(block, 33))
    assert budget.grows(Claim(block, 20, reply_bytes=1))


def test_a_refusal_names_what_fits_once_the_others_are_dropped() -> None:
    budget = ByteBudget(BudgetLimits(4 * UNIT, 3 * UNIT), BYTES_PER_POSITION)
    mine, other, foreign = (filled(budget, name, 32) for name in ("ann", "ann", "bob"))
    budget.check(Claim(mine, 64), [])
    budget.check(Claim(mine, 96), [other])
    with pytest.raises(CacheFull) as refusal:
        budget.check(Claim(mine, 96), [])
    assert (refusal.value.needed, refusal.value.free, refusal.value.fits) == (2 * UNIT, UNIT, 64)
    assert budget.fits(Claim(mine, 64))
    assert not budget.fits(Claim(mine, 96))
    assert foreign.bytes == UNIT


def test_a_large_reply_is_set_aside_until_its_step_ends() -> None:
    budget = ByteBudget(BudgetLimits(4 * UNIT), BYTES_PER_POSITION)
    block = filled(budget, "ann", 32)
    budget.take(Claim(block, 32, reply_bytes=2 * UNIT))
    assert budget.in_use == 3 * UNIT
    assert not budget.fits(Claim(block, 96))
    budget.settle(block)
    assert budget.in_use == UNIT


def test_idle_buffers_have_what_the_holdings_leave() -> None:
    pool = BufferPool(8 * UNIT)
    budget = ByteBudget(BudgetLimits(4 * UNIT), BYTES_PER_POSITION, pool)
    gone, stays = filled(budget, "ann", 96), filled(budget, "ann", 32)
    budget.drop(gone)
    assert (pool.idle_bytes, budget.bytes) == (3 * UNIT, 4 * UNIT)
    budget.take(Claim(stays, 96))
    assert budget.bytes <= 4 * UNIT
