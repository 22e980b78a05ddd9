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

OPERATIONS = 10_000


@pytest.mark.parametrize(("seed", "hides"), [(1, False), (2, False), (3, True)])
def test_an_exact_session_holds_what_was_computed_plainly_after_any_operations(
    tmp_path: Path, seed: int, hides: bool
) -> None:
    async def scenario() -> Counter[str]:
        world = World(tmp_path, seed, hides=hides)
        for number in range(OPERATIONS // 2):
            await world.one()
            world.check(all_of_them=number % 50 == 0)
            if number % 400 == 399:
                await world.restart()
        world.reuse.close()
        return world.counts + world.reuse.taken_tiers

    counts = asyncio.run(scenario())
    # All that could have gone wrong was tried: every tier is found by whoever takes it.
    for takes in TIERS:
        assert counts[f"sent to {takes}"] > 500, counts
        assert counts[f"asked by {takes}"] > 500, counts
    assert not hides or counts["hidden"] > 300
    assert counts["moved"] > 500, counts
    assert counts["documents"] > 500, counts
