"""Which rows of a session its later rows see, changed between its steps."""

from __future__ import annotations

import logging
from weakref import WeakSet

from split_server.kv.cache import buffered
from split_server.sessions.admission.entrance import Entrance
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_server.threads import Threads
from split_wire.errors import CacheFull, Unsupported
from split_wire.hiding.spans import CAPABILITY, Spans, count

_log = logging.getLogger(__name__)


class Seeing:
    """``offered``: whether rows may be hidden here at all; ``reuse``: has what a session holds
    before kept under its exact names, None where nothing is kept.
    """

    def __init__(self, entrance: Entrance, reuse: Reuse | None, *, offered: bool) -> None:
        self.offered = offered
        self._entrance = entrance
        self._reuse = reuse
        # Those in which something was hidden.
        self._sessions = WeakSet[Session]()
        # One, so that copies never take more than one processor from the model.
        self._threads = Threads("spans", 1) if offered else None

    @property
    def hidden(self) -> int:
        """How many positions are hidden in all sessions."""
        return sum(count(session.cache.hidden) for session in self._sessions)

    @property
    def cold_bytes(self) -> int:
        """Bytes of their keys and values."""
        return sum(session.cache.cold_bytes for session in self._sessions)

    def close(self) -> None:
        """End its thread."""
        if self._threads is not None:
            self._threads.close()

    def require_offered(self) -> None:
        """Raise Unsupported where rows may not be hidden."""
        if not self.offered:
            raise Unsupported(CAPABILITY)

    async def see_all_but(self, session: Session, cached: int, hidden: Spans) -> None:
        """Have ``session``, no step of which runs, hold its first ``cached`` positions, of which
        later rows see all but those of ``hidden``.

        Whoever waits for this must not be cancelled. Raises Unsupported, UnknownSession,
        Overloaded, ShuttingDown, and CacheFull where there is no memory to copy into; what is
        hidden is then what it was.
        """
        threads = self._threads
        if threads is None:
            raise Unsupported(CAPABILITY)
        needed = buffered(session.cache).hiding_bytes(hidden)
        self._entrance.enter_seeing(session, needed)
        self._sessions.add(session)
        try:
            await threads.run(lambda: self._changed(session, cached, hidden, needed))
        finally:
            session.published = min(session.published, session.cache.length)
            session.fall_back()
            self._entrance.leave(session)

    def _changed(self, session: Session, cached: int, hidden: Spans, needed: int) -> None:
        cache = buffered(session.cache)
        if self._reuse is not None:
            self._reuse.keep(session)
        cache.truncate(cached)
        try:
            cache.hide(hidden)
        except (RuntimeError, MemoryError, OSError) as error:
            _log.warning("rows were not hidden: %s", type(error).__name__)
            raise CacheFull(cached, needed, 0, cached) from error
