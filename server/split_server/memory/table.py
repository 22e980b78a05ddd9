"""Sessions that fit, by the length of their context, for people to read."""

from __future__ import annotations

from collections.abc import Iterator

from split_server.memory.limit import Room
from split_server.memory.plan import MemoryPlan

_CONTEXTS = (512, 2048, 4096, 8192)
_MIB = 1 << 20


def sessions_that_fit(plan: MemoryPlan, free: int) -> dict[int, int]:
    """Sessions by the context that each holds, with ``free`` bytes for caches and a pass."""
    longest = plan.shape.max_context
    contexts = [context for context in _CONTEXTS if context < longest] + [longest]
    return {
        context: max(free - plan.largest_workspace(context), 0) // plan.cache_bytes(context)
        for context in contexts
    }


def longest_context(plan: MemoryPlan, free: int) -> int:
    """The most positions that one session can hold with ``free`` bytes for its cache and a pass."""
    lowest, highest = 0, plan.shape.max_context
    while lowest < highest:
        middle = (lowest + highest + 1) // 2
        if plan.cache_bytes(middle) + plan.largest_workspace(middle) <= free:
            lowest = middle
        else:
            highest = middle - 1
    return lowest


def cache_budget(plan: MemoryPlan, free: int) -> int:
    """Bytes for caches of ``free`` ones: what a pass over the longest context leaves.

    Nothing is left below the smallest cache, but a budget is never none.
    """
    return max(free - plan.largest_workspace(longest_context(plan, free)), plan.cache_bytes(1))


def described(plan: MemoryPlan, weights: int, reserve: int, room: Room) -> Iterator[str]:
    """The plan in lines; ``room``: what is left when the weights are loaded."""
    free = room.free - reserve
    longest = longest_context(plan, free)
    yield f"weights of the middle    {_mib(weights)}"
    yield f"free besides             {_mib(room.free)}, limited by: {room.source}"
    yield f"workspace of a pass      {_mib(plan.largest_workspace(longest))}, {plan.max_rows} rows"
    yield f"kept free                {_mib(reserve)}"
    yield f"cache of one token       {plan.shape.kv_bytes_per_position:>9,} bytes"
    yield f"longest single context   {longest:>9,} of {plan.shape.max_context:,} tokens"
    yield "sessions that fit, by tokens each holds:"
    for context, sessions in sessions_that_fit(plan, free).items():
        yield f"  {context:>9,} tokens {sessions:>9,}"


def summary(plan: MemoryPlan, budget: int, reserve: int, room: Room) -> str:
    """The plan in one line; ``budget``: bytes of cache in total."""
    free = min(room.free - reserve, budget + plan.largest_workspace(plan.shape.max_context))
    fits = ", ".join(f"{n} of {c}" for c, n in sessions_that_fit(plan, free).items())
    return (
        f"{room.free // _MIB} MiB free (limited by: {room.source}), {budget // _MIB} for caches; "
        f"sessions that fit by tokens: {fits}; longest context {longest_context(plan, free)}"
    )


def _mib(size: int) -> str:
    return f"{size / _MIB:>9,.0f} MiB"
