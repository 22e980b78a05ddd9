"""Disk tiers over small runs, for the tests of the room."""

from __future__ import annotations

import asyncio
import threading
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch

from split_server.kv.block_key import BlockNames, Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.quantise import parts_of, quantise
from split_server.kv.run import Run, Span, block_ends, new_coded_slab, new_slab, pieces
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.keeper import DiskLimits
from split_server.kv_disk.tier import DiskTier
from tests.patience import PATIENCE

LAYERS, HEADS, WIDTH = 3, 2, 8


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def digest(text: str, position: int) -> bytes:
    """The chain after ``position`` positions of a ``text``."""
    return blake2b(f"{text} {position}".encode(), digest_size=16).digest()


def values(text: str, layer: int, start: int, end: int) -> torch.Tensor:
    """Keys and values that no other text, layer and position has."""
    seed = int.from_bytes(blake2b(text.encode(), digest_size=2).digest(), "little")
    at = torch.arange(start, end, dtype=torch.float32)[None, None, :, None]
    parts = torch.arange(2 * HEADS * WIDTH, dtype=torch.float32).view(2, HEADS, 1, WIDTH)
    return seed + 100.0 * layer + at + parts / 64


def runs(
    names: BlockNames,
    text: str,
    end: int,
    dtype: torch.dtype = torch.float32,
    **fields: Any,
) -> list[Run]:
    """The runs of ``text`` up to ``end``, of whole numbers where ``names`` are of that tier."""
    made: list[Run] = []
    for first, last in pieces(0, end):
        shapes = [(2, HEADS, last - first, WIDTH)] * LAYERS
        layers = new_slab(shapes, dtype)
        for number, layer in enumerate(layers):
            layer.copy_(values(text, number, first, last))
        kind: dict[str, Any] = {"tier": names.tier}
        if names.tier == "int8":
            codes, scales = new_coded_slab(shapes, first)
            for layer, *coded in zip(layers, codes, scales, strict=True):
                quantise(layer[0], layer[1], first, parts_of(*coded))
            layers, kind = codes, {**kind, "scales": scales, "expands_to": dtype}
        digests = b"".join(digest(text, at) for at in range(first + 1, last + 1))
        named = {at: names.name(at, digest(text, at)) for at in block_ends(first, last)}
        parent, space = (made[-1] if made else None), names.space
        made.append(
            Run(
                names.owner,
                first,
                last,
                digests,
                named,
                layers,
                parent,
                space=space,
                **kind,
                **fields,
            )
        )
    return made


class Place:
    """A server's tier in ``root``, as it is after a start; ``limits`` of the disk."""

    def __init__(self, root: Path, **limits: Any) -> None:
        self.root, self.clock, self.wall = root, Clock(), Clock()
        self.folder = root / "kv"
        self.state = root / "state"
        self.start(**limits)

    def start(self, identity: str = "model", **limits: Any) -> Place:
        """Begin as a new process would, with an empty pool."""
        self.pool = RunPool(PoolLimits(), self.clock)
        self.tier = DiskTier(
            self.folder, self.state, self.pool, DiskLimits(**limits), self.clock, self.wall
        )
        self.names = Namespaces(identity, self.tier.salts)
        self.tier.start()
        assert self.tier.index.ready.wait(PATIENCE)
        return self

    def put(self, text: str, end: int, owner: str = "alice", salt: str = "") -> list[Run]:
        """Have ``text`` in the pool and on disk."""
        made = runs(self.names.of(owner, salt), text, end)
        for run in made:
            assert self.pool.add(run)
            self.tier.published(1, run)
        asyncio.run(self.tier.flush())
        return made

    def found(self, text: str, end: int, owner: str = "alice", salt: str = "") -> int:
        """Positions of ``text`` that are found, in memory or on disk; right ones all of them."""
        names = self.names.of(owner, salt)
        ends = [end, *range(end - 1 - (end - 1) % 16, 0, -16)]
        asked = [(at, names.name(at, digest(text, at))) for at in ends]
        asyncio.run(self.tier.bring(asked))
        with self.pool.longest([name for _, name in asked]) as spans:
            for span in spans:
                _check(span, text)
            return spans[-1].end if spans else 0

    def files(self) -> list[Path]:
        """The run files."""
        return sorted(self.folder.glob("*.kv"))

    def settle(self) -> None:
        """Wait until what was dropped is gone, and what waits to be written is looked at."""
        for worker in (self.tier._removing, self.tier._writing):
            done = threading.Event()
            assert worker.post(done.set)
            assert done.wait(PATIENCE)


def _check(span: Span, text: str) -> None:
    run = span.run
    for number, layer in enumerate(run.layers):
        assert torch.equal(layer.float(), values(text, number, run.start, run.end))
    assert span.digests == b"".join(digest(text, at) for at in range(span.start + 1, span.end + 1))
