"""The gate of steps: each is counted in with memory set aside, and counted out."""

from __future__ import annotations

from collections import Counter

from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.errors import Overloaded


class StepGate:
    """``max_queued``: steps that one principal may have under way."""

    def __init__(self, store: SessionStore, max_queued: int) -> None:
        self._store = store
        self._max_queued = max_queued
        self._queued: Counter[str] = Counter()

    def enter(self, session: Session, positions: int, reply_bytes: int = 0) -> None:
        """Count a step in and set memory aside for ``positions`` cached ones and, when it is large,
        the reply.

        Raises Overloaded, UnknownSession or CacheFull, and then nothing is counted; idle sessions
        of the same principal may have made way.
        """
        if self._queued[session.principal] >= self._max_queued:
            raise Overloaded(f"{self._max_queued} of your steps are under way")
        self._store.reserve(session, positions, reply_bytes)
        self._queued[session.principal] += 1
        session.running += 1

    def leave(self, session: Session) -> None:
        """Count a step out that was counted in."""
        session.running -= 1
        self._queued[session.principal] -= 1
        if self._queued[session.principal] == 0:
            del self._queued[session.principal]
        self._store.settle(session)
