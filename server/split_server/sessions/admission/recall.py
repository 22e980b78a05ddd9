"""What sessions keep for later ones, and have of earlier ones, beside their steps."""

from __future__ import annotations

import asyncio

from split_server.kv.run import Span
from split_server.sessions.admission.entrance import Entrance
from split_server.sessions.admission.request import StepRequest
from split_server.sessions.cache_groups import Share
from split_server.sessions.keeping.worth import WORTH_LOOKING
from split_server.sessions.making_way import SHORTEST_RETRY
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.errors import CacheFull
from split_wire.probe import Probe
from split_wire.tiers import Tier

# How often memory is asked for that is free in a moment.
_MOMENTS = 20


class Recall:
    """``reuse``: keeps keys and values for later sessions, None where nothing is kept."""

    def __init__(self, reuse: Reuse | None, store: SessionStore, entrance: Entrance) -> None:
        self._reuse = reuse
        self._store = store
        self._entrance = entrance

    def keep(
        self,
        session: Session,
        salt: str | None = None,
        share: Share | None = None,
        takes: Tier = "exact",
    ) -> None:
        """What ``session`` computes is kept, and found by later ones of the same ``salt``, what it
        ``share``-s by those of the group, in no worse tier than each of them ``takes``.
        """
        if self._reuse is not None:
            self._reuse.name(session, salt, share, takes)

    async def erase(self, session: Session) -> None:
        """Forget ``session`` and all that is kept of it. Raises Overloaded, ShuttingDown."""
        if self._reuse is not None:
            await self._reuse.erase(session, self._store.of(session.principal))
        self._store.close(session.principal, session.key)

    async def restored(self, session: Session, start: int, probe: Probe) -> int:
        """Positions that ``session`` holds after the longest known prefix of ``probe`` was taken in
        behind ``start``; where there is no memory for it, nothing is.

        No step of the session may be under way, and whoever waits for this must not be cancelled.
        Raises UnknownSession, Overloaded, ShuttingDown.
        """
        reuse = self._reuse
        if reuse is None:
            return start
        self._entrance.enter_restoring(session)
        spans: list[Span] = []
        try:
            spans = await reuse.found(session, start, probe)
            if not spans:
                return start
            if not await self._reserved(session, spans[-1].end):
                return start
            return await reuse.restored(session, start, spans)
        finally:
            reuse.pool.let_go(spans)
            self._entrance.leave(session)

    async def _reserved(self, session: Session, positions: int) -> bool:
        """Whether there is memory for ``positions``, also in a moment."""
        for _ in range(_MOMENTS):
            try:
                self._store.reserve(session, positions)
            except CacheFull as full:
                if full.retry_after is None or full.retry_after > SHORTEST_RETRY:
                    return False
                await asyncio.sleep(full.retry_after)
            else:
                return True
        return False

    def may_fetch(self, session: Session, request: StepRequest) -> bool:
        """Whether :meth:`fetch` has something to look for."""
        reuse, names = self._reuse, request.names
        if reuse is None or reuse.disk is None or names is None or session.names is None:
            return False
        return len(names) - request.returned >= WORTH_LOOKING

    async def fetch(self, session: Session, request: StepRequest) -> None:
        """Have in memory what the disk has of the rows of a step that was counted in."""
        reuse, names = self._reuse, request.names
        if reuse is not None and names is not None and self.may_fetch(session, request):
            await reuse.fetch(session, request.start, names)
