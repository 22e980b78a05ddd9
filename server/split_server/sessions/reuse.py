"""What sessions computed, kept for later ones: published, found again and taken in.

Published is what a step has appended, on the model thread before its answer is told, and what a
session holds when it ends. It is taken in at the beginning of a step that sends it again, and when
a device asks for it before it sends.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Protocol

import torch

from split_server.kv.block_key import BLOCK, PUBLIC, BlockNames, Namespaces
from split_server.kv.copying import adopt, copied
from split_server.kv.group_names import GroupNames
from split_server.kv.pins import PINNED_SHARE
from split_server.kv.run import Run, Span, block_ends, pieces, up_to
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.tier import DiskTier
from split_server.sessions.audit import Audit
from split_server.sessions.cache_groups import Share
from split_server.sessions.erasure import Erasure
from split_server.sessions.session import Session
from split_server.sessions.traces import every_name
from split_server.threads import Threads
from split_wire.digest import DIGEST_BYTES
from split_wire.errors import SplitError
from split_wire.probe import Probe

# Positions of decoded tokens that are published together: a run for each block would be copied
# several times slower.
_DECODED = 4 * BLOCK
# Names that are worked out on the event loop: about a tenth of a millisecond.
_FEW = 64
_APART_BYTES = 16
# Texts that are forgotten while one step runs; of more, its session keeps nothing any more.
_UNDECIDED = 8
# Fewer rows are computed as fast as they are looked for.
WORTH_LOOKING = 2 * BLOCK
_HOST = torch.device("cpu")
_log = logging.getLogger(__name__)


class Beside(Protocol):
    """Whatever else is remembered of principals' texts, and goes with what is kept of them."""

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop what is remembered of principals that are ``gone``."""

    def purge(self, principal: str, salt: str | None) -> None:
        """Drop what is remembered of ``principal``, of one ``salt`` if it is given."""


class Reuse:
    """``pool`` keeps the runs, ``namespaces`` names them; ``strangers``: principals that many
    people may be, for whom nothing is kept without a salt; ``device``: of the sessions' caches;
    ``public``: what ``PUBLIC`` publishes is found by everybody; ``audit``: what is kept is compared
    with what is computed again; ``disk``: what outlives the process, None without.
    """

    def __init__(
        self,
        pool: RunPool,
        namespaces: Namespaces,
        strangers: frozenset[str] = frozenset(),
        device: torch.device = _HOST,
        *,
        public: bool = False,
        audit: Audit | None = None,
        disk: DiskTier | None = None,
    ) -> None:
        self.pool = pool
        self._device = device
        self.audit = audit
        self.disk = disk
        if audit is not None and disk is not None:
            audit.also_removed = disk.remove
        self._public = namespaces.of(PUBLIC) if public else None
        self._namespaces = namespaces
        self._strangers = strangers
        # One, so that copies never take more than one processor from the model.
        self._threads = Threads("kv", 1)
        # Positions that were taken in: asked for by their device, sent in vain, waited for, or read
        # from disk before, whichever way they were found.
        self.taken: Counter[str] = Counter()
        # Told of what is dropped on request.
        self.beside: Beside | None = None
        # What copies sessions that have ended, or deletes what is kept of them.
        self.parking: set[asyncio.Task[None]] = set()
        # Nothing is added between finding that it may be kept and having the pool hold it.
        self._adding = threading.Lock()

    def names_of(self, principal: str, salt: str | None) -> BlockNames | None:
        """Under which a session of ``principal`` publishes and finds; None where it does not."""
        if not salt and principal in self._strangers:
            return None
        return self._namespaces.of(principal, salt or "")

    def names_apart(self, principal: str) -> BlockNames:
        """Names of a session of ``principal`` that nobody else publishes or finds."""
        return self._namespaces.of(principal, secrets.token_hex(_APART_BYTES))

    def name(self, session: Session, salt: str | None, share: Share | None = None) -> None:
        """What ``session`` computes is kept for sessions of its principal and ``salt``, what it
        ``share``-s for those of the group; it finds that and what is public.
        """
        own, public = self.names_of(session.principal, salt), self._public
        if own is not None and share is not None and share.until >= BLOCK:
            group = self._namespaces.of_group(session.principal, share.name, share.members)
            own = GroupNames.of(own, group, share.until - share.until % BLOCK)
        session.names = own
        if public is not None and (own is None or own.owner != PUBLIC):
            session.finds = (public,) if own is None else (own, public)
        else:
            session.finds = () if own is None else (own,)

    def pinnable(self, principal: str) -> int:
        """Bytes that ``principal`` may have pinned at a time."""
        most = self.pool.limits.per_principal
        return most if principal == PUBLIC else most // PINNED_SHARE

    def pin(self, principal: str, salt: str | None, digests: list[bytes], seconds: float) -> int:
        """Keep the longest known prefix of the rows that ``digests`` name for ``seconds``; how many
        positions that are. Raises PinsFull.
        """
        names = self.names_of(principal, salt)
        if names is None or self.stopped(principal):
            return 0
        finds = (names,) if self._public is None else (names, self._public)
        ends = range(len(digests) - len(digests) % BLOCK, 0, -BLOCK)
        named = [find.name(end, digests[end - 1]) for end in ends for find in finds]
        return self.pool.pin(named, self.pinnable(principal), seconds)

    def stopped(self, principal: str) -> bool:
        """Whether nothing is kept for ``principal`` since audits of it failed."""
        return self.audit is not None and self.audit.stopped(principal)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop what is kept of principals that are ``gone``."""
        self._namespaces.forget(gone)
        self.pool.forget(gone)
        if self.disk is not None:
            self.disk.forget(gone)
        if self.beside is not None:
            self.beside.forget(gone)

    def start(self) -> None:
        """Begin to learn what earlier processes have left on disk."""
        if self.disk is not None:
            self.disk.start()

    async def flush(self, sessions: Iterable[Session]) -> None:
        """Have all that ``sessions`` hold on disk, where there is one; no step of them runs."""
        if self.disk is None:
            return
        for session in sessions:
            self.park(session, lambda: None)
        await asyncio.gather(*self.parking, return_exceptions=True)
        await self.disk.flush()

    def publish(self, session: Session, start: int, digests: list[bytes], guessed: int = 0) -> None:
        """A step has appended rows behind ``start`` that are named by ``digests``, the last of them
        perhaps ``guessed``: they are kept once a later step goes on from them.

        On the model thread, before the answer is told; raises nothing.
        """
        names, end = self._names(session), start + len(digests)
        session.guessed_at = end - guessed if guessed else None
        whole = (end - guessed) - (end - guessed) % BLOCK
        session.traces.grain = 1
        if self.disk is not None:
            self.disk.used(id(session))
        session.published = known = min(session.published, start)

        def digest(position: int) -> bytes:
            chained = position <= start
            return session.chain.at(position) if chained else digests[position - start - 1]

        if session.undecided:
            self._decide(session, end, digest)
        if names is None or whole - known < (BLOCK if len(digests) > BLOCK else _DECODED):
            return

        session.published = self._kept(session, names, known, whole, digest)

    def park(self, session: Session, done: Callable[[], None]) -> bool:
        """Publish all that a session holds that nobody uses any more, then call ``done``; False
        where there is nothing to publish, and ``done`` is never called. On the event loop.
        """
        if session.erased_as is not None:
            self._begin(self._erased(session, session.erased_as))
            return False
        end = session.sure
        worth = end > session.published and end >= WORTH_LOOKING
        if not worth or len(session.chain) != session.cache.length or self._names(session) is None:
            return False
        return self._begin(self._parked(session, end, done))

    def give_up(self, names: BlockNames) -> None:
        """Have nothing kept under ``names``, which are one session's alone. On the event loop."""
        self._begin(self._given_up(names))

    def is_shared(self, principal: str) -> bool:
        """Whether many people may be ``principal``."""
        return principal in self._strangers

    async def purge(self, principal: str, salt: str | None) -> tuple[int, int]:
        """Delete what is kept of ``principal``, of one ``salt`` if it is given; runs and bytes.

        Raises Overloaded, ShuttingDown.
        """
        space = None if salt is None else self._namespaces.of(principal, salt).space
        if self.beside is not None:
            self.beside.purge(principal, salt)

        def work() -> tuple[int, int]:
            runs, size = self.pool.purge(principal, space)
            files, written = (0, 0) if self.disk is None else self.disk.purge(principal, space)
            return runs + files, size + written

        return await self._threads.run(work)

    async def erase(self, session: Session, others: Iterable[Session] = ()) -> None:
        """Have nothing kept of ``session``, which publishes nothing from now on; what other runs
        go on from stays. Neither do those of ``others`` that hold the same text, or a part of it
        that nothing else stands on. On the event loop. Raises Overloaded, ShuttingDown.
        """
        names = session.names or session.erased_as
        if names is None:
            return
        session.names, session.erased_as = None, names
        erasure = Erasure.of(names, session.chain.after(0), session.traces)
        alike = [other for other in others if other is not session and other.names == names]
        withheld = self._withhold(erasure, alike)
        await self._threads.run(self._erasing(session, names))
        # A step that runs may just have published.
        if not session.running:
            session.erased_as = None
        for other in withheld:
            # All that it holds is what others stand on.
            end = len(other.chain)
            known = self.pool.knows(names.name(end, other.chain.at(end)))
            other.withheld = not known or end > erasure.end

    def _withhold(self, erasure: Erasure, others: Iterable[Session]) -> list[Session]:
        """Have those of ``others`` that the erasure concerns keep nothing; which they are."""
        withheld = []
        with self._adding:
            for other in others:
                if other.withheld:
                    continue
                many = len(other.undecided) == _UNDECIDED
                if many or erasure.concerns(len(other.chain), other.chain.at):
                    other.withheld = True
                    withheld.append(other)
                elif other.running:
                    other.undecided.append(erasure)
        return withheld

    def _decide(self, session: Session, end: int, digest: Callable[[int], bytes]) -> None:
        """A step has ended with ``end`` positions; what was forgotten meanwhile counts now."""
        with self._adding:
            if any(erasure.concerns(end, digest) for erasure in session.undecided):
                session.withheld = True
            session.undecided.clear()

    def close(self) -> None:
        """End its threads."""
        self._threads.close()
        if self.disk is not None:
            self.disk.close()

    def taken_in(
        self, session: Session, start: int, digests: list[bytes], waited_from: int | None = None
    ) -> int:
        """Positions that the cache of ``session`` holds after as many of the rows behind ``start``
        as are known, all but the last one at most, were taken in. On the model thread.

        ``waited_from``: positions that were known before the step waited for another one.
        """
        self._keep_cut_off(session, start)
        finds = self._finds(session)
        if len(digests) <= WORTH_LOOKING or not finds:
            return start
        all_rows = start + len(digests)
        ends = range(all_rows - all_rows % BLOCK, start, -BLOCK)
        spans = self.pool.hold(
            [names.name(end, digests[end - start - 1]) for end in ends for names in finds]
        )
        if self.audit is not None and self.audit.takes(session, start, spans):
            return start
        try:
            held = self._adopt(session, start, up_to(all_rows - 1, spans), all_rows)
            waited = 0 if waited_from is None else max(0, held - max(start, waited_from))
            self.taken["waited"] += waited
            self._count("sent", start, held - waited, spans)
        finally:
            self.pool.let_go(spans)
        return held

    async def fetch(self, session: Session, start: int, digests: list[bytes]) -> None:
        """Have the pool hold what the disk has of the rows behind ``start``, where that saves
        computing them. On the event loop, before the step is queued.
        """
        finds, disk = self._finds(session), self.disk
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

        def work() -> int:
            self._keep_cut_off(session, start)
            return self._adopt(session, start, spans, spans[-1].end)

        held = await self._threads.run(work)
        self._count("asked", start, held, spans)
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
        finds = self._finds(session)
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
        if self.disk is not None:
            await self.disk.bring(asked)
        return self.pool.hold([name for _, name in asked])

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

    def _names(self, session: Session) -> BlockNames | None:
        """Under which the session publishes now."""
        names = session.names
        withheld = names is None or session.withheld or self.stopped(names.owner)
        return None if withheld else names

    def _finds(self, session: Session) -> list[BlockNames]:
        """Under which the session looks now."""
        return [names for names in session.finds if not self.stopped(names.owner)]

    def _keep_cut_off(self, session: Session, start: int) -> None:
        """Keep what the session holds behind ``start``, which it is about to give up."""
        end, kept, names = session.sure, session.published, self._names(session)
        if names is None:
            return
        whole = len(session.chain) == session.cache.length
        if end - start >= WORTH_LOOKING and kept < end and whole:
            kept = self._kept(session, names, kept, end, session.chain.at)
        if start < kept <= end:
            ends = block_ends(start, kept)
            session.traces.add(names.name(at, session.chain.at(at)) for at in ends)

    def _adopt(self, session: Session, start: int, spans: list[Span], room: int) -> int:
        behind = [span for span in spans if span.end > start]
        if not behind:
            return start
        try:
            adopt(session.cache, start, behind, room, self._device)
        # Whatever is wrong with a copy, the rows can still be computed.
        except Exception as error:  # noqa: BLE001
            _log.warning("kept keys and values were not taken in: %s", type(error).__name__)
            return start
        known = min(session.published, start)
        # What memory alone has is looked at again when more is kept: it may go to disk then.
        lasting = not self._writes(session) or all(span.run.to_disk for span in spans)
        session.published = max(known, spans[-1].end) if lasting else known
        return spans[-1].end

    def _writes(self, session: Session) -> bool:
        """Whether what the session holds may be written to disk."""
        return session.to_disk and self.disk is not None

    def _followed(self, session: Session, run: Run, end: int) -> bool:
        """Whether what the session keeps may follow the first ``end`` positions, of which ``run``
        has the last. Where the session may be written, so may what it holds all of; of what shall
        stay in memory and goes on otherwise, or is another principal's, it keeps its own.
        """
        if not self._writes(session):
            return True
        held = list[Run]()
        at: Run | None = run
        while at is not None:
            if not at.to_disk:
                if at.end != end or at.owner != session.principal:
                    return False
                held.append(at)
            end = at.start
            at = at.parent
        for one in reversed(held):
            one.to_disk = True
            if self.disk is not None:
                self.disk.published(id(session), one)
        return True

    def _begin(self, work: Coroutine[None, None, None]) -> bool:
        """Whether ``work`` is under way; not where there is no event loop any more."""
        try:
            task = asyncio.get_running_loop().create_task(work)
        except RuntimeError:
            work.close()
            return False
        self.parking.add(task)
        task.add_done_callback(self.parking.discard)
        return True

    def _erasing(self, session: Session, names: BlockNames) -> Callable[[], None]:
        """What deletes all that is kept of ``session`` as it is now."""
        digests, also = session.chain.after(0), [*session.traces.names()]
        owner, slack = session.principal, session.traces.grain - 1

        def work() -> None:
            named = [*every_name(names, digests), *also]
            self.pool.cut(owner, named, slack)
            if self.disk is None:
                return
            self.disk.cut((name for name in named if not self.pool.knows(name)), owner)
            # What was shortened because others go on from it.
            left = next(filter(None, map(self.pool.find, reversed(named))), None)
            if left is not None:
                self.disk.published(id(session), left)

        return work

    async def _erased(self, session: Session, names: BlockNames) -> None:
        with suppress(SplitError):
            await self._threads.run(self._erasing(session, names))

    async def _given_up(self, names: BlockNames) -> None:
        # Behind the copies that were begun before.
        with suppress(SplitError):
            await self._threads.run(lambda: self.pool.purge(names.owner, names.space))

    async def _parked(self, session: Session, end: int, done: Callable[[], None]) -> None:
        names = self._names(session)
        try:
            if names is not None:
                work = lambda: self._kept(  # noqa: E731
                    session, names, min(session.published, end), end, session.chain.at
                )
                await self._threads.run(work)
        # The server stops, or too much waits: what is not kept is computed again.
        except SplitError:
            return
        finally:
            if self.disk is not None:
                self.disk.ended(id(session))
            done()

    def _kept(
        self,
        session: Session,
        names: BlockNames,
        known: int,
        end: int,
        digest: Callable[[int], bytes],
    ) -> int:
        """Keep the positions up to ``end``; those up to ``known`` were kept before. How many are
        kept now.
        """
        # What is shared comes first: it is kept for the group although all is known to the
        # principal alone.
        shared = min(end, names.shared)
        if shared and shared < end:
            kept = self._kept_part(session, names, min(known, shared), shared, digest)
            if kept < shared:
                return kept
        return self._kept_part(session, names, known, end, digest)

    def _kept_part(
        self,
        session: Session,
        names: BlockNames,
        known: int,
        end: int,
        digest: Callable[[int], bytes],
    ) -> int:
        """:meth:`_kept` of positions on one side of what is shared."""
        parent, start = self._parent(session, known, end, digest)
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
        self, session: Session, known: int, end: int, digest: Callable[[int], bytes]
    ) -> tuple[Run | None, int]:
        """The run that the next one follows, and the position where it does: what another session
        of the principal kept meanwhile counts as well, and what is public.
        """
        ends = [end, *range(end - end % BLOCK, 0, -BLOCK), *([known] if known % BLOCK else [])]
        for position in sorted({*ends} - {0}, reverse=True):
            for names in self._finds(session):
                run = self.pool.find(names.name(position, digest(position)))
                if run is not None and self._followed(session, run, position):
                    return run, position
        return None, 0

    def _run(
        self,
        session: Session,
        names: BlockNames,
        start: int,
        end: int,
        digest: Callable[[int], bytes],
        parent: Run | None,
    ) -> Run | None:
        cache, names = session.cache, names.part(end)
        size = cache.allocated_bytes // max(cache.capacity, 1) * (end - start)
        if not self.pool.room_for(names.owner, size + DIGEST_BYTES * (end - start), parent):
            return None
        digests = b"".join(digest(position) for position in range(start + 1, end + 1))
        named = {
            position: names.name(position, digest(position)) for position in block_ends(start, end)
        }
        layers, done = copied(cache, start, end)
        run = Run(
            names.owner,
            start,
            end,
            digests,
            named,
            layers,
            parent,
            copied=done,
            space=names.space,
            to_disk=session.to_disk,
        )
        with self._adding:
            if session.withheld:
                return None
            added = self.pool.add(run)
        if not added:
            return self.pool.find(named[end])
        if self.disk is not None:
            self.disk.published(id(session), run)
        return run


def _split(chained: bytes) -> list[bytes]:
    return [chained[at : at + DIGEST_BYTES] for at in range(0, len(chained), DIGEST_BYTES)]
