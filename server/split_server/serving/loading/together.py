"""Which models fit into memory at once, before any of them is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from split_server.checkpoint.folder import Checkpoint
from split_server.memory.limit import Room
from split_server.memory.planner import RESERVE
from split_server.memory.shared import SharedMemory
from split_server.memory.streaming import usual_workspace
from split_server.serving.config import ComputeConfig
from split_server.serving.engines.checkpoint import open_for
from split_server.serving.models.naming import opening
from split_server.serving.plan import described_plan, needed, plan_memory

# Beyond so many models, pairs with the first one and all of them are told.
_ALL_SETS = 5
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Share:
    """Bytes that one model takes of what all have: ``kept`` while it is loaded, ``peak`` while it
    is being loaded, ``texts`` that stay free for its texts and a process of theirs, ``workspace``
    of a pass.
    """

    name: str
    kept: int
    peak: int
    texts: int
    workspace: int


def described_models(models: Sequence[tuple[str, ComputeConfig]]) -> Iterator[str]:
    """Lines for several models: each as if it was alone, and which of them fit together.

    Raises the errors of ``split_server.errors``.
    """
    shares, room = list[Share](), Room(0, "")
    for name, config in models:
        with opening(name, several=True):
            checkpoint = open_for(config)
        yield f"{name}:"
        yield from (f"  {line}" for line in _alone(config, checkpoint))
        share, room = _share(name, config, checkpoint)
        shares.append(share)
    yield f"loaded together, of {_mib(room.free)} free, limited by: {room.source}"
    yield from (f"  {line}" for line in described_sets(shares, room.free))


def described_sets(shares: Sequence[Share], free: int) -> Iterator[str]:
    """A line for each set of models with the first one, which stays loaded."""
    first, *others = shares
    counts = range(len(others) + 1) if len(shares) <= _ALL_SETS else (1, len(others))
    for count in counts:
        for some in combinations(others, count):
            chosen = (first, *some)
            left = left_for_caches(chosen, free)
            rest = f"{_mib(left)} for caches" if left >= 0 else f"{_mib(-left)} lacking"
            yield f"{' + '.join(one.name for one in chosen)}: {rest}"


def left_for_caches(chosen: Sequence[Share], free: int) -> int:
    """Bytes for the caches of all ``chosen`` models, below 0 what is missing to load them."""
    # One pass runs at a time.
    fixed = RESERVE + max(one.workspace for one in chosen)
    left = free - fixed - sum(one.kept + one.texts for one in chosen)
    # Whichever is loaded last takes more on the way than it keeps.
    spare = left - max(one.peak - one.kept for one in chosen)
    return left if spare >= 0 else spare


def _alone(config: ComputeConfig, checkpoint: Checkpoint) -> Iterator[str]:
    if config.engine == "llama":
        # What it needs is an extra.
        from split_server.serving.engines.llama_middle import described_llama_plan

        yield from described_llama_plan(config, checkpoint)
    else:
        yield from described_plan(config, checkpoint)


def _share(name: str, config: ComputeConfig, checkpoint: Checkpoint) -> tuple[Share, Room]:
    if config.engine == "llama":
        from split_server.serving.engines.llama_middle import llama_need

        _, limit, texts, size = llama_need(config, checkpoint, SharedMemory())
        return Share(name, size, size, texts, 0), limit.room()
    planner, need = plan_memory(config, checkpoint)
    need = needed(config, checkpoint, planner, need)
    texts, room = planner.reserve - RESERVE + planner.beside, planner.room()
    share = Share(name, need.kept, need.peak, texts, usual_workspace(planner))
    return share, Room(room.free + planner.beside, room.source)


def _mib(size: int) -> str:
    return f"{size // _MIB:,} MiB"
