"""What is kept, looked for and taken into the caches of sessions."""

from __future__ import annotations

import logging
from collections import Counter

import torch

from split_server.kv.block_key import BLOCK
from split_server.kv.cache import buffered
from split_server.kv.copying import adopt
from split_server.kv.run import Span, up_to
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.tier import DiskTier
from split_server.sessions.audit import Audit
from split_server.sessions.keeping.naming import Naming
from split_server.sessions.keeping.publishing import Publishing
from split_server.sessions.keeping.sharing import Segment, Sharing
from split_server.sessions.keeping.worth import WORTH_LOOKING
from split_server.sessions.session import Session
from split_server.threads import Threads
from split_wire.digest import DIGEST_BYTES
from split_wire.probe import Probe
from split_wire.tiers import Tier

# Names that are worked out on the event loop: about a tenth of a millisecond.
_FEW = 64
_log = logging.getLogger(__name__)


class TakingIn:
    """``pool`` and ``disk`` have what is kept; ``device``: of the sessions' caches; ``audit``: has
    some of it computed all the same; ``publishing``: keeps what a session gives up for it;
    ``sharing``: has sessions hold common beginnings once, None where each has its own.
    """

    def __init__(
        self,
        pool: RunPool,
        naming: Naming,
        publishing: Publishing,
        threads: Threads,
        device: torch.device,
        audit: Audit | None,
        disk: DiskTier | None,
        sharing: Sharing | None = None,
    ) -> None:
        self._pool = pool
        self._naming = naming
        self._publishing = publishing
        self._threads = threads
        self._device = device
        self._audit = audit
        self._disk = disk
        self._sharing = sharing
        # Positions that were taken in: asked for by their device, sent in vain, waited for, or read
        # from disk before, whichever way they were found.
        self.taken: Counter[str] = Counter()
        # The same by tier.
        self.of_tier: Counter[Tier] = Counter()

    def taken_in(
        self, session: Session, start: int, digests: list[bytes], waited_from: int | None = None
    ) -> int:
        """Positions that the cache of ``session`` holds after as many of the rows behind ``start``
        as are known, all but the last one at most, were taken in. On the model thread.

        ``waited_from``: positions that were known before the step waited for another one.
        """
        if self._sharing is not None:
            self._sharing.join(session)
        self._publishing.keep_cut_off(session, start)
        finds = self._naming.looks(session)
        if len(digests) <= WORTH_LOOKING or not finds:
            return start
        all_rows = start + len(digests)
        ends = range(all_rows - all_rows % BLOCK, start, -BLOCK)
        named = [names.name(end, digests[end - start - 1]) for end in ends for names in finds]
        spans = self._pool.hold(named, session.takes)
        if self._audit is not None and self._audit.takes(session, start, spans):
            return start
        try:
            held = self._adopt(session, start, up_to(all_rows - 1, spans), all_rows)
            waited = 0 if waited_from is None else max(0, held - max(start, waited_from))
            self.taken["waited"] += waited
            self._count("sent", start, held - waited, spans)
            self._count_tiers(start, held, spans)
        finally:
            self._pool.let_go(spans)
        return held

    async def fetch(self, session: Session, start: int, digests: list[bytes]) -> None:
        """Have the pool hold what the disk has of the rows behind ``start``, where that saves
        computing them. On the event loop, before the step is queued.
        """
        finds, disk = self._naming.looks(session), self._disk
        if not finds or disk is None or len(digests) <= WORTH_LOOKING:
            return
        last = start + len(digests) - 1

        def asked() -> list[tuple[int, bytes]]:
            ends = range(last - last % BLOCK, start, -BLOCK)
            named = [(end, digests[end - start - 1]) for end in ends]
            return [(end, names.name(end, digest)) for end, digest in named for names in finds]

        few = len(digests) <= _FEW * BLOCK
        named = asked() if few else await self._threads.run(asked)
        await disk.bring(named, WORTH_LOOKING)

    async def restored(self, session: Session, start: int, spans: list[Span]) -> int:
        """Positions that ``session``, which has no step under way, holds after ``spans`` were taken
        in behind ``start``, by a thread of its own; its chain names them. On the event loop.
        """

        sharing = self._sharing
        segment = None if sharing is None else sharing.segment_for(session, spans)

        def work() -> int:
            self._publishing.keep_cut_off(session, start)
            return self._adopt(session, start, spans, spans[-1].end, segment)

        try:
            held = await self._threads.run(work)
        finally:
            if sharing is not None and segment is not None:
                sharing.settle(segment)
        self._count("asked", start, held, spans)
        self._count_tiers(start, held, spans)
        if held > start:
            chained = b"".join(span.digests for span in spans)
            session.advance(0, _split(chained))
            session.guessed_at = None
        else:
            session.fall_back()
        return held

    async def found(self, session: Session, start: int, probe: Probe) -> list[Span]:
        """The spans of the longest known prefix of ``probe`` behind ``start``, from position 0 on;
        empty where none is known, else they are to be let go.
        """
        finds = self._naming.looks(session)
        if not finds:
            return []

        def work() -> list[tuple[int, bytes]]:
            asked = [(at, digest) for at, digest in probe.longest_first() if at > start]
            if session.names is not None:
                own = (session.names.name(at, digest) for at, digest in asked)
                session.traces.asked_for(own, probe.known, probe.stride)
            return [(at, names.name(at, digest)) for at, digest in asked for names in finds]

        few = len(finds) * len(probe.digests) <= _FEW * DIGEST_BYTES
        asked = work() if few else await self._threads.run(work)
        if self._disk is not None:
            await self._disk.bring(asked)
        return self._pool.hold([name for _, name in asked], session.takes)

    def moved(self, positions: int, source: str) -> None:
        """So many positions were moved to another place, from this ``source``."""
        self.taken[source] += positions
        self.of_tier["approximate"] += positions

    def _count(self, kind: str, start: int, held: int, spans: list[Span]) -> None:
        """Count the positions behind ``start`` that were taken in, those from disk apart."""
        if held <= start:
            return
        read = 0
        for span in spans:
            if span.run.fetched and span.end > start:
                read += max(0, min(span.end, held) - max(span.start, start))
                span.run.fetched = False
        self.taken["disk"] += read
        self.taken[kind] += held - start - read

    def _count_tiers(self, start: int, held: int, spans: list[Span]) -> None:
        """Count the positions from ``start`` to ``held`` by the tiers that they came from."""
        for span in spans:
            self.of_tier[span.run.tier] += max(0, min(span.end, held) - max(span.start, start))

    def _adopt(
        self,
        session: Session,
        start: int,
        spans: list[Span],
        room: int,
        segment: Segment | None = None,
    ) -> int:
        """Positions that ``session`` holds after ``spans`` were taken in behind ``start``, as far
        as ``segment`` goes by standing on it.
        """
        if not spans or spans[-1].end <= start:
            return start
        held, sharing = start, self._sharing
        try:
            if sharing is not None and segment is not None and start < segment.end:
                held = sharing.stand(session, start, segment, spans)
            behind = [span for span in spans if span.end > held]
            if behind:
                adopt(buffered(session.cache), held, behind, room, self._device)
        # Whatever is wrong with a copy, the rows can still be computed.
        except Exception as error:  # noqa: BLE001
            _log.warning("kept keys and values were not taken in: %s", type(error).__name__)
            session.cache.truncate(start)
            return start
        if sharing is not None:
            sharing.adopted(session, spans)
        known = min(session.published, start)
        # What memory alone has is looked at again when more is kept: it may go to disk then.
        lasting = not self._publishing.writes(session) or all(span.run.to_disk for span in spans)
        session.published = max(known, spans[-1].end) if lasting else known
        return spans[-1].end


def _split(chained: bytes) -> list[bytes]:
    return [chained[at : at + DIGEST_BYTES] for at in range(0, len(chained), DIGEST_BYTES)]
