"""What sessions computed, kept for later ones: published, found again and taken in.

Published is what a step has appended, on the model thread before its answer is told, and what a
session holds when it ends. It is taken in at the beginning of a step that sends it again, and when
a device asks for it before it sends.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import torch

from split_server.kv.block_key import BLOCK, BlockNames, Namespaces
from split_server.kv.copying import adopt, copied
from split_server.kv.run import Run, Span, block_ends, pieces, up_to
from split_server.kv.run_pool import RunPool
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
_APART_BYTES = 16
# Fewer rows are computed as fast as they are looked for.
WORTH_LOOKING = 2 * BLOCK
_HOST = torch.device("cpu")
_log = logging.getLogger(__name__)


class Reuse:
    """``pool`` keeps the runs, ``namespaces`` names them; ``strangers``: principals that many
    people may be, for whom nothing is kept without a salt; ``device``: of the sessions' caches.
    """

    def __init__(
        self,
        pool: RunPool,
        namespaces: Namespaces,
        strangers: frozenset[str] = frozenset(),
        device: torch.device = _HOST,
    ) -> None:
        self.pool = pool
        self._device = device
        self._namespaces = namespaces
        self._strangers = strangers
        # One, so that copies never take more than one processor from the model.
        self._threads = Threads("kv", 1)
        # Positions that were taken in: asked for by their device, sent in vain, or waited for.
        self.taken: Counter[str] = Counter()
        # What copies sessions that have ended.
        self.parking: set[asyncio.Task[None]] = set()

    def names_of(self, principal: str, salt: str | None) -> BlockNames | None:
        """Under which a session of ``principal`` publishes and finds; None where it does not."""
        if not salt and principal in self._strangers:
            return None
        return self._namespaces.of(principal, salt or "")

    def names_apart(self, principal: str) -> BlockNames:
        """Names of a session of ``principal`` that nobody else publishes or finds."""
        return self._namespaces.of(principal, secrets.token_hex(_APART_BYTES))

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop what is kept of principals that are ``gone``."""
        self._namespaces.forget(gone)
        self.pool.forget(gone)

    def publish(self, session: Session, start: int, digests: list[bytes]) -> None:
        """A step has appended rows behind ``start`` that are named by ``digests``.

        On the model thread, before the answer is told; raises nothing.
        """
        names, end = session.names, start + len(digests)
        whole = end - end % BLOCK
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
        """End its thread."""
        self._threads.close()

    def taken_in(
        self, session: Session, start: int, digests: list[bytes], waited_from: int | None = None
    ) -> int:
        """Positions that the cache of ``session`` holds after as many of the rows behind ``start``
        as are known, all but the last one at most, were taken in. On the model thread.

        ``waited_from``: positions that were known before the step waited for another one.
        """
        names = session.names
        if names is None:
            return start
        self._keep_cut_off(session, names, start)
        if len(digests) <= WORTH_LOOKING:
            return start
        all_rows = start + len(digests)
        ends = range(all_rows - all_rows % BLOCK, start, -BLOCK)
        named = [names.name(end, digests[end - start - 1]) for end in ends]
        with self.pool.longest(named) as spans:
            held = self._adopt(session, start, up_to(all_rows - 1, spans), all_rows)
        waited = 0 if waited_from is None else max(0, held - max(start, waited_from))
        self.taken["waited"] += waited
        self.taken["sent"] += held - start - waited
        return held

    async def restored(self, session: Session, start: int, spans: list[Span]) -> int:
        """Positions that ``session``, which has no step under way, holds after ``spans`` were taken
        in behind ``start``, by a thread of its own; its chain names them. On the event loop.
        """

        def work() -> int:
            if session.names is not None:
                self._keep_cut_off(session, session.names, start)
            return self._adopt(session, start, spans, spans[-1].end)

        held = await self._threads.run(work)
        self.taken["asked"] += held - start
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

        def work() -> list[Span]:
            asked = probe.longest_first()
            return self.pool.hold([names.name(at, digest) for at, digest in asked if at > start])

        few = len(probe.digests) <= _FEW * DIGEST_BYTES
        return work() if few else await self._threads.run(work)

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
            adopt(session.cache, start, behind, room, self._device)
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
        layers, done = copied(cache, start, end)
        run = Run(names.owner, start, end, digests, named, layers, parent, copied=done)
        return run if self.pool.add(run) else self.pool.find(named[end])


def _split(chained: bytes) -> list[bytes]:
    return [chained[at : at + DIGEST_BYTES] for at in range(0, len(chained), DIGEST_BYTES)]
