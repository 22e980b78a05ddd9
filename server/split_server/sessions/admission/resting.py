"""Sessions that rest: the last rows of a reply are kept before anybody knows how the chat goes on.

While a reply is decoded its rows are published many at a time. What is left of them when it ends
would go with the process; the disk has it once it is published.
"""

from __future__ import annotations

from contextlib import suppress
from weakref import WeakKeyDictionary

from split_server.sessions.admission.entrance import Entrance
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.errors import SplitError

# Seconds without use; before the disk takes what waits to be written.
_RESTS = 1.0


class Resting:
    """Of the sessions of ``store`` that devices hold; ``reuse`` keeps. On the event loop."""

    def __init__(self, store: SessionStore, reuse: Reuse, entrance: Entrance) -> None:
        self._store, self._reuse, self._entrance = store, reuse, entrance
        # What names the text up to which a session was looked at: what was not kept then is not
        # tried again, as each try is a use of the session.
        self._tried: WeakKeyDictionary[Session, bytes] = WeakKeyDictionary()

    async def keep(self) -> None:
        """Publish what sessions hold that nobody has used for a moment; whoever waits for this must
        not be cancelled.
        """
        for session in self._store.unused_for(_RESTS):
            if session.framing is None or session.framing.lock.locked():
                continue
            # No step is admitted while it is held.
            async with session.framing.lock:
                await self._keep(session)

    async def _keep(self, session: Session) -> None:
        end = 0 if session.running else self._reuse.rest(session)
        if not end or self._tried.get(session) == session.chain.at(end):
            return
        with suppress(SplitError):
            self._entrance.enter_restoring(session)
            self._tried[session] = session.chain.at(end)
            try:
                await self._reuse.keep_rest(session, end)
            finally:
                self._entrance.leave(session)
