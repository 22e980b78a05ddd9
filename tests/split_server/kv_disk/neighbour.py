"""One of several servers over one folder of runs, as a process that may be killed at any time.

It writes and reads texts that its neighbours write and read as well, begins anew again and again,
and says a line for each; positions that hold anything wrong end it.
"""

from __future__ import annotations

import asyncio
import random
import sys
from pathlib import Path

import torch

from tests.split_server.kv_disk.tiers import Place, runs

TEXTS = 12
_LONGEST = 900


def written(place: Place, text: str, end: int) -> None:
    """Have ``text`` on disk up to ``end``, as far as there is room."""
    for run in runs(place.names.of("alice"), text, end):
        if place.pool.add(run):
            place.tier.published(1, run)
    asyncio.run(place.tier.flush())


def main(root: Path, seed: int, budget: int) -> None:
    """Until somebody kills it."""
    torch.set_num_threads(1)
    chance = random.Random(seed)  # noqa: S311 - texts, not a secret
    place = Place(root, total=budget)
    while True:
        text, end = f"text {chance.randrange(TEXTS)}", chance.randrange(16, _LONGEST)
        # Thousands of threads of earlier lives would keep this one from its work.
        place.tier.close()
        place.start(total=budget)
        found = place.found(text, end)
        if not found:
            written(place, text, end)
        print(f"found {found}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
