"""What steps have computed and sessions hold, published for later sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from split_server.kv.block_key import BLOCK, BlockNames
from split_server.kv.run import block_ends
from split_server.kv_disk.tier import DiskTier
from split_server.sessions.keeping.copies import Copies
from split_server.sessions.keeping.forgetting import Forgetting
from split_server.sessions.keeping.naming import Naming
from split_server.sessions.keeping.worth import WORTH_LOOKING
from split_server.sessions.session import Session
from split_server.threads import Threads
from split_wire.errors import SplitError

# Positions of decoded tokens that are published together: a run for each block would be copied
# several times slower.
_DECODED = 4 * BLOCK


class Publishing:
    """``copies`` are made of what ``naming`` has a session publish, of what ended by ``threads``;
    ``forgetting`` says what is not to be kept.
    """

    def __init__(
        self,
        copies: Copies,
        naming: Naming,
        forgetting: Forgetting,
        disk: DiskTier | None,
        threads: Threads,
    ) -> None:
        self._copies = copies
        self._naming = naming
        self._forgetting = forgetting
        self._disk = disk
        self._threads = threads
        # What copies sessions that have ended, or deletes what is kept of them.
        self.parking: set[asyncio.Task[None]] = set()

    def publish(self, session: Session, start: int, digests: list[bytes], guessed: int = 0) -> None:
        """A step has appended rows behind ``start`` that are named by ``digests``, the last of them
        perhaps ``guessed``: they are kept once a later step goes on from them.

        On the model thread, before the answer is told; raises nothing.
        """
        names, end = self._naming.publishes(session), start + len(digests)
        session.guessed_at = end - guessed if guessed else None
        whole = (end - guessed) - (end - guessed) % BLOCK
        session.traces.grain = 1
        if self._disk is not None:
            self._disk.used(id(session))
        session.published = known = min(session.published, start)

        def digest(position: int) -> bytes:
            chained = position <= start
            return session.chain.at(position) if chained else digests[position - start - 1]

        if session.undecided:
            self._forgetting.decide(session, end, digest)
        if names is None or whole - known < (BLOCK if len(digests) > BLOCK else _DECODED):
            return

        session.published = self._copies.keep(session, names, known, whole, digest)

    def park(self, session: Session, done: Callable[[], None]) -> bool:
        """Publish all that a session holds that nobody uses any more, then call ``done``; False
        where there is nothing to publish, and ``done`` is never called. On the event loop.
        """
        if session.erased_as is not None:
            self.begin(self._forgetting.erase_again(session, session.erased_as))
            return False
        end = session.sure
        worth = end > session.published and end >= WORTH_LOOKING
        if not worth or len(session.chain) != session.cache.length:
            return False
        if self._naming.publishes(session) is None:
            return False
        return self.begin(self._parked(session, end, done))

    def give_up(self, names: BlockNames) -> None:
        """Have nothing kept under ``names``, which are one session's alone. On the event loop."""
        self.begin(self._forgetting.given_up(names))

    def writes(self, session: Session) -> bool:
        """Whether what the session holds may be written to disk."""
        return self._copies.writes(session)

    def keep_cut_off(self, session: Session, start: int) -> None:
        """Keep what the session holds behind ``start``, which it is about to give up."""
        end, kept, names = session.sure, session.published, self._naming.publishes(session)
        if names is None:
            return
        whole = len(session.chain) == session.cache.length
        if end - start >= WORTH_LOOKING and kept < end and whole:
            kept = self._copies.keep(session, names, kept, end, session.chain.at)
        if start < kept <= end:
            ends, exact = block_ends(start, kept), names.in_tier("exact")
            session.traces.add(exact.name(at, session.chain.at(at)) for at in ends)

    def rest(self, session: Session) -> int:
        """Where the whole blocks end that a session which rests would publish in a moment; 0 where
        there are none, or where it is not to outlive the process.
        """
        end, names = session.sure - session.sure % BLOCK, self._naming.publishes(session)
        # What was never kept, or is no more, is not for want of its last rows.
        few = session.published and BLOCK <= end - session.published <= _DECODED + BLOCK
        whole = len(session.chain) == session.cache.length
        if names is None or not few or not whole or end < WORTH_LOOKING:
            return 0
        # Steps of the session would wait behind what is under way.
        return end if self._copies.writes(session) and not self._threads.occupied else 0

    async def keep_rest(self, session: Session, end: int) -> None:
        """Publish up to ``end``, see :meth:`rest`, unless what goes before it is kept no more; no
        step of ``session`` begins meanwhile. Raises Overloaded, ShuttingDown.
        """
        names, known, digest = self._naming.publishes(session), session.published, session.chain.at
        if names is None:
            return

        def kept() -> int:
            if not self._copies.stands(session, names, known, end, digest):
                return known
            return self._copies.keep(session, names, known, end, digest)

        session.published = await self._threads.run(kept)

    def keep_all(self, session: Session) -> None:
        """Keep all that the session holds, of which no step runs."""
        end, names = session.sure, self._naming.publishes(session)
        whole = len(session.chain) == session.cache.length
        if names is None or not whole or end < WORTH_LOOKING or end <= session.published:
            return
        known = session.published
        session.published = self._copies.keep(session, names, known, end, session.chain.at)

    def begin(self, work: Coroutine[None, None, None]) -> bool:
        """Whether ``work`` is under way; not where there is no event loop any more."""
        try:
            task = asyncio.get_running_loop().create_task(work)
        except RuntimeError:
            work.close()
            return False
        self.parking.add(task)
        task.add_done_callback(self.parking.discard)
        return True

    async def _parked(self, session: Session, end: int, done: Callable[[], None]) -> None:
        names = self._naming.publishes(session)
        try:
            if names is not None:
                work = lambda: self._copies.keep(  # noqa: E731
                    session, names, min(session.published, end), end, session.chain.at
                )
                await self._threads.run(work)
        # The server stops, or too much waits: what is not kept is computed again.
        except SplitError:
            return
        finally:
            if self._disk is not None:
                self._disk.ended(id(session))
            done()
