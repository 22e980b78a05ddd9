"""Copies of what sessions hold, run by run into the pool."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from itertools import pairwise

from split_server.kv.block_key import BLOCK, BlockNames
from split_server.kv.cache import buffered
from split_server.kv.copying import copied, copied_bytes
from split_server.kv.run import Run, Span, block_ends, pieces
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.tier import DiskTier
from split_server.sessions.erasure import DigestAt
from split_server.sessions.keeping.naming import Naming
from split_server.sessions.session import Session
from split_wire.digest import DIGEST_BYTES

_log = logging.getLogger(__name__)


class Copies:
    """``pool`` has them, ``disk`` what outlives the process. From any thread that may read the
    session's cache.
    """

    def __init__(self, pool: RunPool, naming: Naming, disk: DiskTier | None) -> None:
        self._pool = pool
        self._naming = naming
        self._disk = disk
        # Nothing is added between finding that it may be kept and having the pool hold it.
        self.adding = threading.Lock()

    def writes(self, session: Session) -> bool:
        """Whether what the session holds may be written to disk."""
        return session.to_disk and self._disk is not None

    def keep(
        self,
        session: Session,
        names: BlockNames,
        known: int,
        end: int,
        digest: DigestAt,
    ) -> int:
        """Keep the positions up to ``end``; those up to ``known`` were kept before. How many are
        kept now.
        """
        # What is shared comes first: it is kept for the group although all is known to the
        # principal alone.
        shared = min(end, names.shared)
        if shared and shared < end:
            kept = self._keep_part(session, names, min(known, shared), shared, digest)
            if kept < shared:
                return kept
        return self._keep_part(session, names, known, end, digest)

    def _keep_part(
        self,
        session: Session,
        names: BlockNames,
        known: int,
        end: int,
        digest: DigestAt,
    ) -> int:
        """:meth:`keep` of positions on one side of what is shared."""
        parent, start = self._parent(session, names, known, end, digest)
        for first, last in pieces(start, end):
            try:
                run = self._run(session, names, first, last, digest, parent)
            # Memory that is not there; a chat goes on without what would be kept.
            except (RuntimeError, MemoryError, OSError) as error:
                _log.warning("keys and values were not kept: %s", type(error).__name__)
                return first
            if run is None:
                return first
            parent = run
        return end

    def _parent(
        self, session: Session, kept: BlockNames, known: int, end: int, digest: DigestAt
    ) -> tuple[Run | None, int]:
        """The run that the next one follows, and the position where it does: what another session
        of the principal kept meanwhile counts as well, in no worse tier than that of ``kept``, and
        what is public.
        """
        ends = [end, *range(end - end % BLOCK, 0, -BLOCK), *([known] if known % BLOCK else [])]
        looks = self._naming.looks(session, kept.tier)
        for position in sorted({*ends} - {0}, reverse=True):
            for names in looks:
                run = self._pool.find(names.name(position, digest(position)))
                if run is not None and self._followed(session, run, position):
                    return run, position
        return None, 0

    def stands(
        self, session: Session, names: BlockNames, known: int, end: int, digest: DigestAt
    ) -> bool:
        """Whether the whole blocks up to ``known``, which were kept, are kept still."""
        return self._parent(session, names, known, end, digest)[1] >= known - known % BLOCK

    def _followed(self, session: Session, run: Run, end: int) -> bool:
        """Whether what the session keeps may follow the first ``end`` positions, of which ``run``
        has the last. Where the session may be written, so may what it holds all of; of what shall
        stay in memory and goes on otherwise, or is another principal's, it keeps its own.
        """
        if not self.writes(session):
            return True
        held = list[Run]()
        at: Run | None = run
        while at is not None:
            if not at.to_disk:
                if at.end != end or at.owner != session.principal:
                    return False
                held.append(at)
            end, at = at.start, at.parent
        for one in reversed(held):
            one.to_disk = True
            if self._disk is not None:
                self._disk.published(id(session), one)
        return True

    def _run(
        self,
        session: Session,
        names: BlockNames,
        start: int,
        end: int,
        digest: DigestAt,
        parent: Run | None,
    ) -> Run | None:
        """The run of these positions as the pool has it now; None where it does not take it."""
        cache, names = buffered(session.cache), names.part(end)
        size = copied_bytes(cache, start, end, quantised=quantised(session, names))
        if not self._pool.room_for(names.owner, size + DIGEST_BYTES * (end - start), parent):
            return None
        run = made_run(session, names, start, end, digest, parent)
        with self.adding:
            if session.withheld:
                return None
            added = self._pool.add(run)
        if not added:
            return self._pool.find(run.names[end])
        if self._disk is not None:
            self._disk.published(id(session), run)
        return run

    def missing(
        self, session: Session, names: BlockNames, end: int, digest: DigestAt
    ) -> tuple[Run | None, list[tuple[int, int]]]:
        """What is not kept of the positions up to ``end``: the run that it follows, and the
        positions of its own runs.
        """
        parent, start = self._parent(session, names, 0, end, digest)
        cuts = [start, *([names.shared] if start < names.shared < end else []), end]
        return parent, [piece for a, b in pairwise(cuts) for piece in pieces(a, b)]

    def hold(self, run: Run) -> list[Span]:
        """Have ``run`` and what it follows stay; none where it has gone."""
        return self._pool.hold([run.names[run.end]], run.tier)

    def let_go(self, spans: Iterable[Span]) -> None:
        """They are not needed any more."""
        self._pool.let_go(spans)

    def add_all(self, session: Session, runs: list[Run]) -> None:
        """Have the pool take ``runs``, each of which follows the one before, as far as it does."""
        for run in runs:
            with self.adding:
                if session.withheld or not self._pool.add(run):
                    return
            if self._disk is not None:
                self._disk.published(id(session), run)


def made_run(
    session: Session,
    names: BlockNames,
    start: int,
    end: int,
    digest: DigestAt,
    parent: Run | None,
) -> Run:
    """A copy of what ``session`` holds from ``start`` to ``end``, on one side of what is shared.

    Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
    """
    names = names.part(end)
    digests = b"".join(digest(position) for position in range(start + 1, end + 1))
    named = {
        position: names.name(position, digest(position)) for position in block_ends(start, end)
    }
    return _copy(session, names, start, end, digests, named, parent, session.to_disk)


def chunk_run(session: Session, names: BlockNames, start: int, end: int, name: bytes) -> Run:
    """A copy of the positions from ``start`` to ``end``, found by ``name`` alone and never written.

    Raises as :func:`made_run`.
    """
    return _copy(session, names, start, end, b"", {end: name}, None, to_disk=False)


def _copy(
    session: Session,
    names: BlockNames,
    start: int,
    end: int,
    digests: bytes,
    named: dict[int, bytes],
    parent: Run | None,
    to_disk: bool,
) -> Run:
    cache, coded = buffered(session.cache), quantised(session, names)
    made = copied(cache, start, end, quantised=coded)
    return Run(
        names.owner,
        start,
        end,
        digests,
        named,
        made.layers,
        parent,
        copied=made.done,
        space=names.space,
        to_disk=to_disk,
        tier=names.tier,
        scales=[*made.scales],
        expands_to=cache.like(0).dtype if coded else None,
    )


def quantised(session: Session, names: BlockNames) -> bool:
    """Whether what is kept under ``names`` is whole numbers."""
    return names.tier != "exact" and session.keeps == "int8"
