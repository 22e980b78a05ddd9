"""Sessions that stand on the same kept prefix hold it once, where several decode beside each other.

The common positions are copied into one cache that nobody writes to (``KVCache.base``); each
session has its own positions behind them. With few sessions reading a prefix together costs more
than it saves, so those that are left go back to caches of their own.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakSet

from split_server.kv.cache import KVCache, buffered
from split_server.kv.copying import adopt
from split_server.kv.run import Run, Span, up_to
from split_server.kv.session_cache import SessionCache
from split_server.kv.sharing_rule import SharingRule
from split_server.memory.room import CacheRoom, Claim
from split_server.sessions.session import Session
from split_wire.digest import DIGEST_BYTES
from split_wire.errors import CacheFull

_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Segment:
    """The first ``end`` positions of some sessions of ``principal``, which ``run`` ends with; it
    takes space as a session does.
    """

    principal: str
    cache: SessionCache
    run: Run
    reserved: int = 0
    promised: int = 0
    filled: bool = False

    @property
    def end(self) -> int:
        """How many positions it has."""
        return self.run.end

    @property
    def base(self) -> KVCache:
        """Its cache, with layers."""
        return buffered(self.cache)

    @property
    def reply_bytes(self) -> int:
        """It answers nothing."""
        return 0

    @property
    def bytes(self) -> int:
        """Bytes that it counts with."""
        return self.reserved + self.promised


class Sharing:
    """``room``: where a segment takes its space; ``rule``: how long a beginning is shared by how
    many sessions.
    """

    def __init__(self, room: CacheRoom, rule: SharingRule) -> None:
        self._room = room
        self._rule = rule
        self._lock = threading.Lock()
        # Sessions that took a run in, and the segments of their principals.
        self._standing: WeakKeyDictionary[Run, WeakSet[Session]] = WeakKeyDictionary()
        self._segments: dict[tuple[str, Run], Segment] = {}
        self._due: WeakKeyDictionary[Session, Segment] = WeakKeyDictionary()

    @property
    def bytes(self) -> int:
        """Bytes of all segments."""
        return sum(segment.bytes for segment in list(self._segments.values()))

    @property
    def sessions(self) -> int:
        """How many sessions stand on one."""
        return sum(len(segment.base.users) for segment in list(self._segments.values()))

    def adopted(self, session: Session, spans: Iterable[Span]) -> None:
        """``session`` has taken ``spans`` in. Any thread."""
        with self._lock:
            for span in spans:
                if span.end == span.run.end and self._rule.least(span.end):
                    self._standing.setdefault(span.run, WeakSet()).add(session)

    def segment_for(self, session: Session, spans: Sequence[Span]) -> Segment | None:
        """What ``session`` is to share of ``spans``, from position 0 on, that it is about to take
        in; others that hold it already follow with their next steps. On the event loop.
        """
        for span in reversed(spans):
            exact = span.run.tier == "exact"
            if exact and span.end == span.run.end and self._rule.least(span.end):
                segment = self._segments.get((session.principal, span.run))
                others = self._others(session, span.run)
                if segment is None and self._rule.pays(span.end, len(others) + 1):
                    segment = self._begun(session.principal, span.run)
                if segment is not None:
                    self._follow(others, segment)
                    return segment
        return None

    def stand(self, session: Session, start: int, segment: Segment, spans: Sequence[Span]) -> int:
        """Have ``session``, of which ``start`` positions stay, stand on ``segment``, which
        ``spans`` fill if it is new; how many positions it holds then. On the thread that copies.

        Raises what copying raises.
        """
        if not segment.filled:
            adopt(segment.base, 0, up_to(segment.end, spans), segment.end)
            segment.filled = True
        cache = buffered(session.cache)
        cache.truncate(start)
        cache.share(segment.base, segment.end)
        return segment.end

    def join(self, session: Session) -> None:
        """Have ``session`` stand on the segment that it is to follow, or on none any more. On the
        model thread, before a step of it.
        """
        cache = buffered(session.cache)
        try:
            if cache.leaving:
                cache.leaving = False
                cache.unshare()
            with self._lock:
                segment = self._due.pop(session, None)
            if segment is not None and segment.filled and _stands(session, segment.run):
                cache.share(segment.base, segment.end)
        # Memory that is not there: the session goes on as it is.
        except (RuntimeError, MemoryError, OSError) as error:
            _log.warning("keys and values stay where they are: %s", type(error).__name__)

    def leaves(self, session: Session, positions: int) -> None:
        """``session`` is about to hold ``positions``: where too few stand on what it shares for
        that to pay, and there is room, it holds all of them itself. On the event loop.
        """
        cache = buffered(session.cache)
        if cache.base is None or cache.leaving:
            return
        if self._rule.pays(cache.base.length, self._standing_on(cache.base)):
            return
        cache.leaving = True
        if not self._room.fits(Claim(session, positions)):
            cache.leaving = False

    def tidy(self) -> None:
        """Give back segments that nobody stands on. On the event loop."""
        for key, segment in list(self._segments.items()):
            if segment.filled and not self._standing_on(segment.base):
                del self._segments[key]
                self._room.drop(segment)

    def _standing_on(self, base: KVCache) -> int:
        """How many sessions share ``base``, with those that are about to."""
        with self._lock:
            due = [one for one, segment in self._due.items() if segment.base is base]
        return len(base.users) + sum(one.cache.length > 0 for one in due)

    def settle(self, segment: Segment) -> None:
        """``segment`` is filled, or could not be. On the event loop."""
        if segment.filled:
            self._room.settle(segment)
            return
        with self._lock:
            for session in [one for one, due in self._due.items() if due is segment]:
                del self._due[session]
        if self._segments.pop((segment.principal, segment.run), None) is not None:
            self._room.drop(segment)

    def _others(self, session: Session, run: Run) -> list[Session]:
        """The other sessions of the same principal that hold all up to the end of ``run``."""
        with self._lock:
            standing = [*self._standing.get(run, ())]
        return [
            one
            for one in standing
            if one is not session and one.principal == session.principal and _stands(one, run)
        ]

    def _begun(self, principal: str, run: Run) -> Segment | None:
        """A new segment up to the end of ``run``; None where there is no room for it."""
        segment = Segment(principal, self._room.new_cache(), run)
        self._room.hold(segment)
        if self._taken(Claim(segment, run.end)):
            self._segments[principal, run] = segment
            return segment
        self._room.drop(segment)
        return None

    def _taken(self, claim: Claim) -> bool:
        """Whether there was space for ``claim``, which is set aside then."""
        if not self._room.fits(claim):
            return False
        try:
            self._room.take(claim)
        except CacheFull:
            return False
        return True

    def _follow(self, others: Iterable[Session], segment: Segment) -> None:
        with self._lock:
            for other in others:
                if other.cache.shared < segment.end:
                    self._due[other] = segment


def _stands(session: Session, run: Run) -> bool:
    """Whether the session holds the rows up to the end of ``run``."""
    end = run.end
    if len(session.chain) < end or session.cache.length < end:
        return False
    return session.chain.at(end) == run.digests[-DIGEST_BYTES:]
