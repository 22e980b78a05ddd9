"""The sessions of a host: bounded per principal and in all, dropped when idle.

The host keeps the public key's checked bytes, so that a worker that died can be replaced, and the
last reply, so that a query sent again is answered from memory.
"""

from __future__ import annotations

import secrets
import time
from asyncio import Task
from collections.abc import Callable
from dataclasses import dataclass, field

from split_server.adapter_host.limits import HostLimits
from split_wire.errors import TooManySessions, UnknownSession

SESSION_BYTES = 16
NONCE_BYTES = 32


@dataclass(slots=True, eq=False)
class HostSession:
    """``number``: the last query that was taken; ``answer``: its task, finished or under way.

    ``key``: device nonce and public key once they were accepted. ``strikes``: workers that were
    lost while they computed for it.
    """

    id: bytes
    principal: str
    adapter: str
    place: int
    host_nonce: bytes
    used: float
    key: tuple[bytes, bytes] | None = None
    keying: bool = False
    number: int = 0
    fingerprint: bytes = b""
    answer: Task[bytes] | None = None
    strikes: int = 0

    @property
    def busy(self) -> bool:
        """Whether a worker computes for it, or it waits for one."""
        return self.keying or (self.answer is not None and not self.answer.done())


@dataclass(slots=True)
class SessionTable:
    """``ended`` is told of every session that leaves."""

    limits: HostLimits
    ended: Callable[[HostSession], None]
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[int], bytes] = secrets.token_bytes
    _held: dict[bytes, HostSession] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._held)

    def open(self, principal: str, adapter: str, seat: Callable[[], int]) -> HostSession:
        """A new session; the principal's longest unused idle one makes room.

        Raises TooManySessions.
        """
        self.sweep()
        self._make_room(principal)
        session = HostSession(
            self.draw(SESSION_BYTES),
            principal,
            adapter,
            seat(),
            self.draw(NONCE_BYTES),
            self.clock(),
        )
        self._held[session.id] = session
        return session

    def find(self, principal: str, adapter: str, session: bytes) -> HostSession:
        """Raises UnknownSession, also for somebody else's."""
        found = self._held.get(session)
        if found is None or (found.principal, found.adapter) != (principal, adapter):
            raise UnknownSession
        found.used = self.clock()
        return found

    def answers(self) -> list[Task[bytes]]:
        """The last queries' tasks, finished or under way."""
        return [session.answer for session in self._held.values() if session.answer is not None]

    def drop(self, session: HostSession) -> None:
        """End a session; nothing when it has ended already."""
        if self._held.pop(session.id, None) is not None:
            self.ended(session)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """End the sessions of principals that are ``gone``."""
        for session in [held for held in self._held.values() if gone(held.principal)]:
            self.drop(session)

    def sweep(self) -> None:
        """Drop what was idle too long."""
        now = self.clock()
        for session in list(self._held.values()):
            ttl = self.limits.keyless_ttl if session.key is None else self.limits.ttl
            if not session.busy and now - session.used > ttl:
                self.drop(session)

    def _make_room(self, principal: str) -> None:
        own = [session for session in self._held.values() if session.principal == principal]
        full = len(own) >= self.limits.sessions_per_principal
        if not full and len(self._held) < self.limits.sessions:
            return
        idle = [session for session in own if not session.busy]
        if not idle:
            limit = self.limits.sessions_per_principal if full else self.limits.sessions
            raise TooManySessions(limit)
        self.drop(min(idle, key=lambda session: session.used))
