"""Sessions by principal: who holds which cache, and for how long.

Lives on the event loop alone, so it needs no lock. A session that is busy is never evicted; which
idle one makes way is for ``making_way`` to say. A session that is removed while busy keeps counting
until its step ends, and only then are its buffers given to the next one.
"""

from __future__ import annotations

import itertools
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterator

from split_server.kv.block_key import BlockNames
from split_server.memory.room import CacheRoom, Claim
from split_server.sessions.lost_names import LostNames, Parked, is_named, named
from split_server.sessions.making_way import SHORTEST_RETRY, MakingWay, StoreLimits
from split_server.sessions.session import Session
from split_wire.digest import PrefixChain
from split_wire.errors import CacheFull, UnknownSession
from split_wire.tensor import WireDtype

_SESSION_ID_BYTES = 16


class SessionStore:
    """``room``: what is asked for the space of the caches; ``clock`` in seconds."""

    def __init__(
        self,
        limits: StoreLimits,
        room: CacheRoom,
        clock: Callable[[], float] = time.monotonic,
        new_id: Callable[[], str] = lambda: secrets.token_urlsafe(_SESSION_ID_BYTES),
    ) -> None:
        self._way = MakingWay(limits, clock)
        self._room = room
        self._clock = clock
        self._new_id = new_id
        # Least recently used first.
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._lingering: set[Session] = set()
        # Those whose keys and values are being kept; they are no sessions any more.
        self._parking: set[Session] = set()
        self._lost_names = LostNames()
        self._uses = itertools.count()
        # Told whenever a place has become free, and whenever a step has ended; they may neither
        # open a session nor reserve before they return.
        self.freed: Callable[[], None] = lambda: None
        self.settled: Callable[[], None] = lambda: None
        # Keeps what a session holds that has ended, and calls back; False where it does not.
        self.park: Callable[[Session, Callable[[], None]], bool] = lambda _, __: False
        # The same of an idle one whose memory somebody else needs, in less memory or on disk.
        self.set_aside: Callable[[Session, Callable[[], None]], bool] = lambda _, __: False
        # Told under which names a session was kept that a client named and nobody goes on with.
        self.given_up: Callable[[BlockNames], None] = lambda _: None

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def bytes(self) -> int:
        """Bytes set aside for all sessions, and of the buffers that wait for the next one."""
        return self._room.bytes

    def open(
        self, principal: str, chain: PrefixChain, dtype: WireDtype, name: str | None = None
    ) -> Session:
        """A new session with a fresh unguessable id, or under a ``name`` that its client chose.

        At the principal's own limit its longest idle session makes way; at the total one, the
        longest idle one of whoever holds the most, if that is more than the principal has. Raises
        TooManySessions where there is none.
        """
        self.sweep()
        key = self._new_id() if name is None else named(name)
        if name is not None:
            self._discard((principal, key), kept=False)
        self._make_place(principal)
        # Not before there is a place: a name that was lost stays lost without one.
        self._lost_names.discard(principal, key)
        session = Session(principal, key, chain, dtype, self._room.new_cache())
        session.last_used, session.since = self._clock(), next(self._uses)
        self._room.hold(session)
        self._sessions[principal, key] = session
        return session

    def get(self, principal: str, session_id: str) -> Session:
        """The principal's session, marked as used.

        Raises UnknownSession, also for somebody else's.
        """
        session = None if is_named(session_id) else self._used(principal, session_id)
        if session is None:
            raise UnknownSession
        return session

    def use(self, session: Session) -> None:
        """Mark a session as used, after a rest as a new use; nothing happens when it is gone."""
        if not self._holds(session):
            return
        if session.running == 0 and not self._way.active(session):
            session.since = next(self._uses)
        session.resting = False
        self._touch(session)

    def rest(self, session: Session) -> None:
        """Let a session make way at once: its client does not go on for now."""
        session.resting = True

    def grows(self, session: Session, positions: int, reply_bytes: int = 0) -> bool:
        """Whether :meth:`reserve` needs more space than the session has."""
        return self._room.grows(Claim(session, positions, reply_bytes))

    def find_named(self, principal: str, name: str) -> Session | None:
        """The session under a client's own ``name``, None when that name was never used.

        Raises UnknownSession when there was one and it is lost: it must not be continued silently.
        """
        session = self._used(principal, named(name))
        if session is None and self._lost_names.holds(principal, named(name)):
            raise UnknownSession
        return session

    def parked_named(self, principal: str, name: str) -> Parked | None:
        """Where a lost session under a client's own ``name`` stood, None where it may not go on."""
        self.sweep()
        return self._lost_names.parked(principal, named(name))

    def has_named(self, principal: str, name: str) -> bool:
        """Whether there is a session under a client's own ``name``."""
        return (principal, named(name)) in self._sessions

    def principals(self) -> set[str]:
        """Those who have sessions, such included that end just now."""
        return {session.principal for session in self._all()}

    def idle(self) -> list[Session]:
        """The sessions without a step under way."""
        return [session for session in self._sessions.values() if not session.running]

    def unused_for(self, seconds: float) -> list[Session]:
        """The sessions without a step under way that nobody has used for so long."""
        latest = self._clock() - seconds
        return [session for session in self.idle() if session.last_used <= latest]

    def of(self, principal: str) -> list[Session]:
        """The principal's sessions, with those that end and those that are being kept just now."""
        every = (*self._all(), *self._parking)
        return [session for session in every if session.principal == principal]

    def reserve(self, session: Session, positions: int, reply_bytes: int = 0) -> None:
        """Set the buffers for ``positions`` cached ones aside, evicting idle sessions of the
        principal if that helps: those that rest, and those whose use began later.

        ``reply_bytes``: of a large reply, which is kept like the cache. Raises UnknownSession when
        the session is gone, and CacheFull when even evicting would not make room, with a time where
        the principal's other sessions could; nothing is set aside then.
        """
        if not self._holds(session):
            raise UnknownSession
        claim = Claim(session, positions, reply_bytes)
        if self._room.grows(claim):
            self._make_way(session, claim)
        try:
            self._room.take(claim)
        except BaseException:
            # What was set aside before it failed is given back.
            if session.running == 0:
                self._room.settle(session)
            raise

    def _make_way(self, session: Session, claim: Claim) -> None:
        """Give up sessions until ``claim`` fits."""
        others = self._others(session)
        yielding = self._way.for_memory(session, others)
        try:
            self._room.check(claim, yielding, told=len(yielding) == len(others))
        except CacheFull as full:
            if self._parking:
                # Their memory is free in a moment.
                raise full.later(SHORTEST_RETRY) from None
            if len(yielding) == len(others):
                raise
            # Raises where waiting would not help.
            self._room.check(claim, others)
            raise full.later(self._way.retry_after(others)) from None
        for other in yielding:
            if self._room.fits(claim):
                return
            if self._parking and self._refusal(claim, self._parking) is None:
                break
            if not self._set_aside(other):
                self.lose(other, kept=False)
        if self._parking and not self._room.fits(claim):
            refusal = self._refusal(claim, ())
            if refusal is not None:
                # Their memory is free in a moment.
                raise refusal.later(SHORTEST_RETRY)

    def _refusal(self, claim: Claim, others: Collection[Session]) -> CacheFull | None:
        """What refuses ``claim`` even with ``others`` gone, None where nothing does."""
        try:
            self._room.check(claim, [*others], told=False)
        except CacheFull as full:
            return full
        return None

    def _set_aside(self, session: Session) -> bool:
        """Give up an idle session that is kept elsewhere first; False: it is not, and stays."""
        if is_named(session.key) or not self.set_aside(session, lambda: self._parked(session)):
            return False
        del self._sessions[session.principal, session.key]
        self._parking.add(session)
        self.freed()
        return True

    def settle(self, session: Session) -> None:
        """A step has ended: count what the cache really holds.

        A session that is gone gives its buffers back with its last step.
        """
        if session.running == 0:
            if session in self._lingering:
                self._lingering.discard(session)
                self._end(session, kept=True)
                self._give_up(session)
            self._room.settle(session)
            self.settled()
        if self._holds(session):
            self._touch(session)

    def close(self, principal: str, session_id: str) -> None:
        """Forget a session; nothing happens when there is none."""
        if not is_named(session_id):
            self._discard((principal, session_id))

    def close_named(self, principal: str, name: str) -> None:
        """Forget a session under a client's own name, and what is kept for it."""
        self._discard((principal, named(name)), kept=False)
        self.lose_parked(principal, name)

    def lose_parked(self, principal: str, name: str) -> None:
        """A session under a client's own ``name`` may not go on if it was lost."""
        if self._lost_names.holds(principal, named(name)):
            self._lost(principal, named(name), None)

    def lose(self, session: Session, *, kept: bool = True) -> None:
        """Drop a session that its client still counts on; ``kept``: its keys and values may be kept
        for later ones, which takes a moment.

        A client's own name is remembered as lost, so that it is not continued silently.
        """
        if not self._holds(session):
            return
        if not is_named(session.key):
            self._discard((session.principal, session.key), kept=kept)
            return
        parked = _parked(session) if kept else None
        self._discard((session.principal, session.key), kept=parked is not None)
        self._lost(session.principal, session.key, parked)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop the sessions of principals that are ``gone``."""
        for key in [key for key in self._sessions if gone(key[0])]:
            self._discard(key, kept=False)
        self._lost_names.forget(gone)

    def sweep(self) -> None:
        """Drop the sessions that were idle for longer than the limit."""
        for session in self._way.expired(self._sessions.values()):
            self.lose(session)

    def _lost(self, principal: str, key: str, parked: Parked | None) -> None:
        for other in self._lost_names.add(principal, key, parked):
            self.given_up(other.names)

    def _give_up(self, session: Session) -> None:
        """Have nothing kept of a session that a client named and that did not go to be kept."""
        if session.apart is not None and session.names is None:
            self.given_up(session.apart)

    def _all(self) -> Iterator[Session]:
        yield from self._sessions.values()
        yield from self._lingering

    def _holds(self, session: Session) -> bool:
        return self._sessions.get((session.principal, session.key)) is session

    def _used(self, principal: str, key: str) -> Session | None:
        self.sweep()
        session = self._sessions.get((principal, key))
        if session is not None:
            self.use(session)
        return session

    def _touch(self, session: Session) -> None:
        session.last_used = self._clock()
        self._sessions.move_to_end((session.principal, session.key))

    def _others(self, session: Session) -> list[Session]:
        """The principal's sessions but this one that hold anything, the longest idle first.

        To give up an empty one frees nothing, and its client may just wait for room.
        """
        mine = (s for s in self._sessions.values() if s.principal == session.principal)
        return [other for other in mine if other is not session and other.bytes]

    def _make_place(self, principal: str) -> None:
        """Give up sessions until ``principal`` may have one more. Raises TooManySessions."""
        while self._way.full(held := Counter(each.principal for each in self._all()), principal):
            self.lose(self._way.for_place(principal, self._sessions.values(), held))

    def _discard(self, key: tuple[str, str], *, kept: bool = True) -> None:
        session = self._sessions.pop(key, None)
        if session is None:
            return
        if not kept:
            session.names = None
            self._give_up(session)
        if session.running:
            self._lingering.add(session)
            return
        self._end(session, kept=kept)

    def _end(self, session: Session, *, kept: bool) -> None:
        """Give its buffers back, once what it holds is kept."""
        if kept and self.park(session, lambda: self._parked(session)):
            self._parking.add(session)
        else:
            self._room.drop(session)
        self.freed()

    def _parked(self, session: Session) -> None:
        self._parking.discard(session)
        self._room.drop(session)
        self.freed()


def _parked(session: Session) -> Parked | None:
    """Where a session stands that is about to be parked."""
    end = len(session.chain)
    if session.names is None or session.running or not end:
        return None
    return Parked(session.names, end, session.chain.at(end))
