"""Prompts that stay kept for a while although nobody uses them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from split_client.model.ends import DeviceEnds
from split_server.compat.kept.naming import digests_of, prompt_chain
from split_server.kv.block_key import BLOCK
from split_server.kv.pins import PinsFull
from split_server.sessions.in_process import InProcessSessions
from split_wire.errors import SplitError


class NothingKept(SplitError):
    """What is asked for needs kept keys and values, and there are none."""

    code = "nothing_kept"
    status = 409

    def __init__(self, reason: str) -> None:
        super().__init__(f"nothing is kept for this request: {reason}")


class Pinning:
    """Pins what ``sessions`` keep of prompts. Lives on the event loop."""

    def __init__(self, ends: DeviceEnds, sessions: InProcessSessions) -> None:
        self._ends = ends
        self._sessions = sessions

    def require(self, principal: str, salt: str | None, tokens: int) -> None:
        """Raise what a pin of so many positions would be refused for, before they are computed:
        NothingKept, PinsFull.
        """
        reuse = self._sessions.reuse
        if reuse is None:
            raise NothingKept("this server keeps no keys and values (--kv-reuse off)")
        if reuse.stopped(principal):
            raise NothingKept("audits of what was kept failed")
        if reuse.names_of(principal, salt) is None:
            raise NothingKept("many people are one principal here; give a cache_salt of your own")
        whole = tokens - tokens % BLOCK
        needed = whole * self._sessions.info.kv_bytes_per_position
        if needed > reuse.pinnable(principal):
            raise PinsFull(needed, reuse.pinnable(principal))

    async def pin(
        self, principal: str, salt: str | None, ids: Sequence[int], seconds: float
    ) -> int:
        """Positions of ``ids`` that stay for ``seconds``; whole blocks of what is kept of them.

        Raises PinsFull.
        """
        reuse, dtype = self._sessions.reuse, self._sessions.info.dtype
        if reuse is None:
            return 0
        digests = await asyncio.to_thread(lambda: digests_of(prompt_chain(self._ends, ids, dtype)))
        return reuse.pin(principal, salt, digests, seconds)
