"""Which idle session makes way for another one, or for its memory.

A session whose client has just used it does not, for one whose use began later: it is about to
send its next token, and would come back with its whole conversation. Only where a principal has
more than an equal share of all sessions is it given up then, for one that has less: whoever keeps
all at work keeps nobody out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

from split_server.sessions.session import Session
from split_wire.errors import TooManySessions

SHORTEST_RETRY, _USUAL_RETRY = 0.1, 1.0


@dataclass(frozen=True, slots=True)
class StoreLimits:
    """Counts; seconds of idleness after which a session goes (``ttl``), and until which no newcomer
    takes its place or its memory (``active``).
    """

    max_sessions: int = 64
    max_sessions_per_principal: int = 32
    ttl: float = 300.0
    active: float = 0.0


class MakingWay:
    """Chooses, and gives up nothing itself; ``clock`` in seconds."""

    def __init__(self, limits: StoreLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits, self._clock = limits, clock

    def active(self, session: Session) -> bool:
        """Whether its client has just used it, and goes on as far as is known."""
        return not session.resting and self._idle_for(session) < self.limits.active

    def expired(self, sessions: Collection[Session]) -> list[Session]:
        """Those that were idle for longer than the limit."""
        deadline = self._clock() - self.limits.ttl
        return [each for each in sessions if each.running == 0 and each.last_used < deadline]

    def full(self, held: Counter[str], principal: str) -> bool:
        """Whether ``principal`` cannot have one more; ``held``: how many each principal has."""
        limits = self.limits
        total, mine = held.total(), held[principal]
        return total >= limits.max_sessions or mine >= limits.max_sessions_per_principal

    def for_place(
        self, principal: str, sessions: Collection[Session], held: Counter[str]
    ) -> Session:
        """The one of ``sessions``, the longest idle first, whose place ``principal`` gets.

        Raises TooManySessions where there is none.
        """
        own_limit = held[principal] >= self.limits.max_sessions_per_principal

        def may_go(session: Session) -> bool:
            larger = held[session.principal] > held[principal]
            return session.principal == principal or (larger and not own_limit)

        idle = [each for each in sessions if each.running == 0 and may_go(each)]
        resting = [session for session in idle if not self.active(session)]
        if not resting and not own_limit:
            share = self.limits.max_sessions // len({*held, principal})
            owed = held[principal] < share
            resting = [session for session in idle if owed and held[session.principal] > share]
        if not resting:
            limits = self.limits
            limit = limits.max_sessions_per_principal if own_limit else limits.max_sessions
            raise TooManySessions(limit, self.retry_after(idle))
        # Of equally large holders the first, which is the longest idle one.
        return max(resting, key=lambda session: held[session.principal])

    def for_memory(self, session: Session, others: list[Session]) -> list[Session]:
        """Those of ``others`` that make way for ``session``, first those that rest and may be kept
        in less memory, then the rest of these, then those in use since the shortest time: whoever
        is in use the longest comes to its end.
        """
        idle = [other for other in others if other.running == 0]
        resting = [other for other in idle if not self.active(other)]
        # Of what may be kept in less memory first.
        resting.sort(key=lambda other: other.keeps == "exact")
        later = [other for other in idle if self.active(other) and other.since > session.since]
        return resting + sorted(later, key=lambda other: -other.since)

    def retry_after(self, idle: list[Session]) -> float:
        """Seconds until one of ``idle`` sessions may go."""
        longest = max(map(self._idle_for, idle), default=self.limits.active - _USUAL_RETRY)
        return round(max(SHORTEST_RETRY, self.limits.active - longest), 1)

    def _idle_for(self, session: Session) -> float:
        return self._clock() - session.last_used
