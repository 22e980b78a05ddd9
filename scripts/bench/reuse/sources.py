"""Sessions of the server's own parts in this process: its model, its cache and what it keeps."""

from __future__ import annotations

import asyncio
from pathlib import Path

import torch

from scripts.real.models.ours import Middle
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_wire.digest import PrefixChain
from split_wire.tensor import Tensor, WireDtype
from split_wire.tiers import Tier

_NAMES: dict[str, WireDtype] = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}
_PRINCIPAL = "bench"


class Source:
    """The model at ``path`` in ``dtype`` and a pool of its runs."""

    def __init__(self, path: Path, dtype: str, threads: int = 0) -> None:
        self.middle = Middle(path, dtype, threads=threads)
        tiers: tuple[Tier, ...] = ("exact", "int8")
        self.reuse = Reuse(RunPool(PoolLimits()), Namespaces("bench"), tiers=tiers)
        self._wire = _NAMES[dtype]

    def session(self, takes: Tier = "exact") -> Session:
        """A new one, which keeps and finds what it ``takes``."""
        session = Session(_PRINCIPAL, "bench", PrefixChain("bench"), self._wire)
        self.reuse.name(session, None, takes=takes)
        return session

    def digests(self, session: Session, rows: torch.Tensor) -> list[bytes]:
        """The chain after each of ``rows`` float32 [n, H] behind those of ``session``."""
        tensor = Tensor.from_f32(rows.numpy(), self._wire)
        return session.chain.following(len(session.chain), tensor)

    def computed(self, session: Session, rows: torch.Tensor) -> torch.Tensor:
        """Append ``rows`` [n, H] in one step, publish them, and return their states [n, H]."""
        start, digests = len(session.chain), self.digests(session, rows)
        states = self.middle.states(rows, session.cache, start)
        self.reuse.publish(session, start, digests)
        session.advance(start, digests)
        return states

    def keep(self, session: Session) -> None:
        """Keep all that ``session`` holds, as where it ends."""

        async def parked() -> None:
            self.reuse.park(session, lambda: None)
            await asyncio.gather(*self.reuse.parking)

        asyncio.run(parked())

    def taken_in(self, session: Session, rows: torch.Tensor) -> int:
        """Positions of ``rows`` [n, H] that ``session``, which is empty, holds now."""
        digests = self.digests(session, rows)
        held = self.reuse.taken_in(session, 0, digests)
        session.advance(0, digests[:held])
        return held

    def close(self) -> None:
        """End its threads."""
        self.reuse.close()
