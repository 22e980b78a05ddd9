"""Nothing of another tier gets into a session that is to be exact, whatever is done before.

The model of this test is a function of the text alone, in float32. Rows that came back from whole
numbers, or from other places, are not what it gives, and rows that are computed behind such rows
are not either: they are off by what the last row is off by. So a session whose rows are what the
function says has taken in, or computed on, nothing else.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from split_wire.tiers import TIERS
from tests.split_server.sessions.any_operations import World

# So many, and as many again where chance has not brought all of what could go wrong by then: what
# the disk has written by the time of an operation is another in each run.
OPERATIONS = 5_000


def untried(counts: Counter[str], *, hides: bool) -> set[str]:
    """What has hardly been tried: every tier is to be found by whoever takes it."""
    names = {f"{how} {takes}" for how in ("sent to", "asked by") for takes in TIERS}
    wanted = dict.fromkeys(names | {"moved", "documents"}, 500)
    if hides:
        wanted["hidden"] = 300
    return {name for name, often in wanted.items() if counts[name] <= often}


@pytest.mark.parametrize(("seed", "hides"), [(1, False), (2, False), (3, True)])
def test_an_exact_session_holds_what_was_computed_plainly_after_any_operations(
    tmp_path: Path, seed: int, hides: bool
) -> None:
    async def scenario() -> Counter[str]:
        world = World(tmp_path, seed, hides=hides)
        for number in range(2 * OPERATIONS):
            if number >= OPERATIONS and not untried(world.counts, hides=hides):
                break
            await world.one()
            world.check(all_of_them=number % 50 == 0)
            if number % 400 == 399:
                await world.restart()
        world.reuse.close()
        return world.counts

    counts = asyncio.run(scenario())
    assert not untried(counts, hides=hides), counts
