"""What sessions computed, kept for later ones: published, found again and taken in.

Published is what a step has appended, on the model thread before its answer is told, and what a
session holds when it ends. It is taken in at the beginning of a step that sends it again, and when
a device asks for it before it sends.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress

from split_server.kv.block_key import BLOCK, BlockNames, Namespaces
from split_server.kv.copying import adopt, copied
from split_server.kv.run import Run, Span, block_ends, pieces
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.tier import DiskTier
from split_server.sessions.session import Session
from split_server.threads import Threads
from split_wire.digest import DIGEST_BYTES
from split_wire.errors import SplitError
from split_wire.probe import Probe

# Positions of decoded tokens that are published together: a run for each block would be copied
# several times slower.
_DECODED = 4 * BLOCK
# Names that are worked out on the event loop: about a tenth of a millisecond.
_FEW = 64
# Fewer rows are computed as fast as they are looked for.
WORTH_LOOKING = 2 * BLOCK
_log = logging.getLogger(__name__)


class Reuse:
    """``pool`` keeps the runs, ``namespaces`` names them; ``strangers``: principals that many
    people may be, for whom nothing is kept without a salt; ``disk``: what outlives the process,
    None without.
    """

    def __init__(
        self,
        pool: RunPool,
        namespaces: Namespaces,
        strangers: frozenset[str] = frozenset(),
        disk: DiskTier | None = None,
    ) -> None:
        self.pool = pool
        self.disk = disk
        self._namespaces = namespaces
        self._strangers = strangers
        # One, so that copies never take more than one processor from the model.
        self._threads = Threads("kv", 1)
        # Positions that were taken in: asked for by their device, sent in vain, or, of both, read
        # from disk before.
        self.taken: Counter[str] = Counter()
        # What copies sessions that have ended.
        self.parking: set[asyncio.Task[None]] = set()

    def names_of(self, principal: str, salt: str | None) -> BlockNames | None:
        """Under which a session of ``principal`` publishes and finds; None where it does not."""
        if not salt and principal in self._strangers:
            return None
        return self._namespaces.of(principal, salt or "")

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop what is kept of principals that are ``gone``."""
        self._namespaces.forget(gone)
        self.pool.forget(gone)
        if self.disk is not None:
            self.disk.forget(gone)

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

    def publish(self, session: Session, start: int, digests: list[bytes]) -> None:
        """A step has appended rows behind ``start`` that are named by ``digests``.

        On the model thread, before the answer is told; raises nothing.
        """
        names, end = session.names, start + len(digests)
        whole = end - end % BLOCK
        if self.disk is not None:
            self.disk.used(id(session))
        session.published = known = min(session.published, start)
        if names is None or whole - known < (BLOCK if len(digests) > BLOCK else _DECODED):
            return

        def digest(position: int) -> bytes:
            chained = position <= start
            return session.chain.at(position) if chained else digests[position - start - 1]

        session.published = self._kept(session, names, known, whole, digest)

    def park(self, session: Session, done: Callable[[], None]) -> bool:
        """Publish all that a session holds that nobody uses any more, then call ``done``; False
        where there is nothing to publish, and ``done`` is never called. On the event loop.
        """
        end = len(session.chain)
        worth = session.names is not None and end > session.published and end >= WORTH_LOOKING
        if not worth or end != session.cache.length:
            return False
        with suppress(RuntimeError):
            task = asyncio.get_running_loop().create_task(self._parked(session, end, done))
            self.parking.add(task)
            task.add_done_callback(self.parking.discard)
            return True
        return False

    def close(self) -> None:
        """End its threads."""
        self._threads.close()
        if self.disk is not None:
            self.disk.close()

    def taken_in(self, session: Session, start: int, digests: list[bytes]) -> int:
        """Positions that the cache of ``session`` holds after as many of the rows behind ``start``
        as are known, all but the last one at most, were taken in. On the model thread.
        """
        names = session.names
        if names is None:
            return start
        self._keep_cut_off(session, names, start)
        if len(digests) <= WORTH_LOOKING:
            return start
        last = start + len(digests) - 1
        ends = range(last - last % BLOCK, start, -BLOCK)
        named = [names.name(end, digests[end - start - 1]) for end in ends]
        with self.pool.longest(named) as spans:
            held = self._adopt(session, start, spans, last + 1)
            self._count("sent", start, held, spans)
        return held

    async def fetch(self, session: Session, start: int, digests: list[bytes]) -> None:
        """Have the pool hold what the disk has of the rows behind ``start``, where that saves
        computing them. On the event loop, before the step is queued.
        """
        names, disk = session.names, self.disk
        if names is None or disk is None or len(digests) <= WORTH_LOOKING:
            return
        last = start + len(digests) - 1

        def asked() -> list[tuple[int, bytes]]:
            ends = range(last - last % BLOCK, start, -BLOCK)
            return [(end, names.name(end, digests[end - start - 1])) for end in ends]

        few = len(digests) <= _FEW * BLOCK
        named = asked() if few else await self._threads.run(asked)
        await disk.bring(named, WORTH_LOOKING)

    async def restored(self, session: Session, start: int, spans: list[Span]) -> int:
        """Positions that ``session``, which has no step under way, holds after ``spans`` were taken
        in behind ``start``, by a thread of its own; its chain names them. On the event loop.
        """

        def work() -> int:
            if session.names is not None:
                self._keep_cut_off(session, session.names, start)
            return self._adopt(session, start, spans, spans[-1].end)

        held = await self._threads.run(work)
        self._count("asked", start, held, spans)
        if held > start:
            chained = b"".join(span.digests for span in spans)
            session.advance(0, _split(chained))
        else:
            session.fall_back()
        return held

    async def found(self, session: Session, start: int, probe: Probe) -> list[Span]:
        """The spans of the longest known prefix of ``probe`` behind ``start``, from position 0 on;
        empty where none is known, else they are to be let go.
        """
        names = session.names
        if names is None:
            return []

        def work() -> list[tuple[int, bytes]]:
            asked = probe.longest_first()
            return [(at, names.name(at, digest)) for at, digest in asked if at > start]

        few = len(probe.digests) <= _FEW * DIGEST_BYTES
        asked = work() if few else await self._threads.run(work)
        if self.disk is not None:
            await self.disk.bring(asked)
        return self.pool.hold([name for _, name in asked])

    def _count(self, kind: str, start: int, held: int, spans: list[Span]) -> None:
        """Count the positions behind ``start`` that were taken in, those from disk apart."""
        if held == start:
            return
        read = 0
        for span in spans:
            if span.run.fetched and span.end > start:
                read += span.end - max(span.start, start)
                span.run.fetched = False
        self.taken["disk"] += read
        self.taken[kind] += held - start - read

    def _keep_cut_off(self, session: Session, names: BlockNames, start: int) -> None:
        """Keep what the session holds behind ``start``, which it is about to give up."""
        end = len(session.chain)
        if end - start < WORTH_LOOKING or end <= session.published or end != session.cache.length:
            return
        self._kept(session, names, session.published, end, session.chain.at)

    def _adopt(self, session: Session, start: int, spans: list[Span], room: int) -> int:
        behind = [span for span in spans if span.end > start]
        if not behind:
            return start
        try:
            adopt(session.cache, start, behind, room)
        # Whatever is wrong with a copy, the rows can still be computed.
        except Exception as error:  # noqa: BLE001
            _log.warning("kept keys and values were not taken in: %s", type(error).__name__)
            return start
        session.published = max(min(session.published, start), spans[-1].end)
        return spans[-1].end

    async def _parked(self, session: Session, end: int, done: Callable[[], None]) -> None:
        names = session.names
        try:
            if names is not None:
                work = lambda: self._kept(  # noqa: E731
                    session, names, min(session.published, end), end, session.chain.at
                )
                await self._threads.run(work)
        # The server stops, or too much waits: what is not kept is computed again.
        except SplitError:
            return
            if self.disk is not None:
                self.disk.ended(id(session))
        finally:
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
        parent, start = self._parent(names, known, end, digest)
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
        self, names: BlockNames, known: int, end: int, digest: Callable[[int], bytes]
    ) -> tuple[Run | None, int]:
        """The run that the next one follows, and the position where it does: what another session
        of the principal kept meanwhile counts as well.
        """
        ends = [end, *range(end - end % BLOCK, 0, -BLOCK), *([known] if known % BLOCK else [])]
        for position in sorted({*ends}, reverse=True):
            if position and (run := self.pool.find(names.name(position, digest(position)))):
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
        cache = session.cache
        size = cache.allocated_bytes // max(cache.capacity, 1) * (end - start)
        if not self.pool.room_for(names.owner, size + DIGEST_BYTES * (end - start), parent):
            return None
        digests = b"".join(digest(position) for position in range(start + 1, end + 1))
        named = {
            position: names.name(position, digest(position)) for position in block_ends(start, end)
        }
        layers = copied(cache, start, end)
        run = Run(names.owner, start, end, digests, named, layers, parent, space=names.space)
        if not self.pool.add(run):
            return self.pool.find(named[end])
        if self.disk is not None:
            self.disk.published(id(session), run)
        return run


def _split(chained: bytes) -> list[bytes]:
    return [chained[at : at + DIGEST_BYTES] for at in range(0, len(chained), DIGEST_BYTES)]
