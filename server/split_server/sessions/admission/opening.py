"""New sessions, opened at once or in their turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from split_server.sessions.admission.newcomers import Newcomers
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.digest import PrefixChain
from split_wire.tensor import WireDtype

# Seconds that a device waits where it has somewhere else to ask: a neighbour may have a place that
# three routing ids in a row did not lead to.
_WITH_NEIGHBOURS = 5.0


def _as_it_is(_: Session) -> None:
    """A session that needs nothing more."""


async def nothing_to_wait_for(_: str) -> None:
    """A principal whose sessions need nothing that is slow to come."""


class Opening:
    """``manifest``: with which every chain begins; ``patience``: seconds that a newcomer waits for
    a session; ``require_staying`` raises ShuttingDown once the server is about to stop; ``ready``
    is awaited before a principal's session is made; ``queue_newcomers``: whether devices wait that
    do not say so, False where they can go elsewhere.
    """

    def __init__(
        self,
        store: SessionStore,
        manifest: str,
        patience: float,
        require_staying: Callable[[], None],
        ready: Callable[[str], Awaitable[None]] = nothing_to_wait_for,
        *,
        queue_newcomers: bool = True,
    ) -> None:
        self._queues, self._patience = queue_newcomers, patience
        self._store = store
        self._manifest = manifest
        self._require_staying, self._ready = require_staying, ready
        self._newcomers = Newcomers(patience, self._withdraw)

    def freed(self) -> None:
        """A place may have become free; those who wait for one are looked at."""
        self._newcomers.wake()

    def patience_of(self, *, wait: bool) -> float | None:
        """Seconds that a device waits for its session, which says whether it wants to ``wait``;
        None: the usual ones.
        """
        if self._queues:
            return None
        return min(self._patience, _WITH_NEIGHBOURS) if wait else 0.0

    def open(self, principal: str, dtype: WireDtype, name: str | None = None) -> Session:
        """A new session with an empty cache, under a ``name`` if its client chose one.

        Raises ShuttingDown, TooManySessions.
        """
        self._require_staying()
        return self._store.open(principal, PrefixChain(self._manifest), dtype, name)

    async def opened(
        self,
        principal: str,
        dtype: WireDtype,
        prepare: Callable[[Session], None] = _as_it_is,
        name: str | None = None,
        patience: float | None = None,
    ) -> Session:
        """:meth:`open` once there is a place, principals in turn; ``prepare`` is called before
        anybody else gets one. ``patience``: seconds, in place of the usual ones.

        Raises ShuttingDown, TooManySessions and what ``prepare`` raises.
        """

        def make() -> Session:
            session = self.open(principal, dtype, name)
            try:
                prepare(session)
            # Nobody would ever know its id.
            except BaseException:
                self._withdraw(session)
                raise
            return session

        await self._ready(principal)
        return await self._newcomers.turn(principal, make, patience=patience)

    def _withdraw(self, session: Session) -> None:
        self._store.lose(session)
