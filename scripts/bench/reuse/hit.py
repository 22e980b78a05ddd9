"""A hit's own work within this process, over the prefill that it replaces."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from scripts.bench.inputs import embedding_rows
from scripts.bench.reuse.pages import rounds
from scripts.bench.reuse.sources import Source
from scripts.bench.shapes import SHAPES
from split_server.kv.block_key import BLOCK
from split_wire.tiers import Tier


@dataclass(frozen=True, slots=True)
class Hit:
    """Milliseconds; ``look_up`` is a part of ``taken_in``."""

    positions: int
    prefill: float
    published: float
    look_up: float
    taken_in: float


def hits(path: Path, options: argparse.Namespace, takes: Tier = "exact") -> list[Hit]:
    """Rounds with rows of their own: computed, published, found and taken in, as sessions are
    served that ``takes`` says.
    """
    source = Source(path, options.dtype, options.threads)
    width = SHAPES[options.shape]["hidden_size"]
    try:
        # The first round compiles kernels and is not counted.
        return [
            _hit(
                source, torch.from_numpy(0.02 * embedding_rows(options.prompt, width, seed)), takes
            )
            for seed in rounds(options.hits + 1, options.seconds / 8, least=3)
        ][1:]
    finally:
        source.close()


def _hit(source: Source, rows: torch.Tensor, takes: Tier) -> Hit:
    first, later = source.session(takes), source.session(takes)
    positions = (len(rows) - 1) // BLOCK * BLOCK
    digests = source.digests(first, rows)
    prefill = _ms(lambda: source.middle.states(rows[:positions], first.cache))
    known = digests[:positions]
    published = _ms(lambda: source.reuse.publish(first, 0, known))
    assert later.names is not None
    names = later.names.in_tier(takes)

    def looked_up() -> None:
        ends = range(positions, 0, -BLOCK)
        with source.reuse.pool.longest([names.name(end, digests[end - 1]) for end in ends]):
            pass

    look_up = _ms(looked_up)
    taken_in = _ms(lambda: source.reuse.taken_in(later, 0, digests))
    if later.cache.length != positions:
        raise SystemExit(f"{later.cache.length} of {positions} known positions were taken in")
    for mine, other in zip(later.cache.layers, first.cache.layers, strict=True):
        kept, right = mine.keys[:, :, :positions], other.keys[:, :, :positions]
        if not (torch.equal if takes == "exact" else _near)(kept, right):
            raise SystemExit("what was taken in is not what was computed")
    return Hit(positions, prefill, published, look_up, taken_in)


def _near(kept: torch.Tensor, right: torch.Tensor) -> bool:
    """As whole numbers of 8 bits are."""
    return float((kept - right).norm()) < 0.02 * float(right.norm())


def _ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - began)
