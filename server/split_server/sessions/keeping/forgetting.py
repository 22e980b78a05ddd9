"""What is kept of sessions, deleted at their device's or principal's request."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from split_server.kv.block_key import BlockNames
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.tier import DiskTier
from split_server.sessions.erasure import DigestAt, Erasure
from split_server.sessions.keeping.copies import Copies
from split_server.sessions.session import Session
from split_server.sessions.traces import every_name
from split_server.threads import Threads
from split_wire.errors import SplitError

# Texts that are forgotten while one step runs; of more, its session keeps nothing any more.
_UNDECIDED = 8


class Forgetting:
    """``copies`` are what sessions still keep meanwhile; ``threads`` delete."""

    def __init__(
        self, pool: RunPool, disk: DiskTier | None, copies: Copies, threads: Threads
    ) -> None:
        self._pool = pool
        self._disk = disk
        self._copies = copies
        self._threads = threads

    async def purge(self, owner: str, space: bytes | None) -> tuple[int, int]:
        """Delete what is kept of ``owner``, of one ``space`` if it is given; runs and bytes.

        Raises Overloaded, ShuttingDown.
        """

        def work() -> tuple[int, int]:
            runs, size = self._pool.purge(owner, space)
            files, written = (0, 0) if self._disk is None else self._disk.purge(owner, space)
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
            named = names.in_all_tiers(names.name(end, other.chain.at(end)))
            known = any(map(self._pool.knows, named))
            other.withheld = not known or end > erasure.end

    def _withhold(self, erasure: Erasure, others: Iterable[Session]) -> list[Session]:
        """Have those of ``others`` that the erasure concerns keep nothing; which they are."""
        withheld = []
        with self._copies.adding:
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

    def decide(self, session: Session, end: int, digest: DigestAt) -> None:
        """A step has ended with ``end`` positions; what was forgotten meanwhile counts now."""
        with self._copies.adding:
            if any(erasure.concerns(end, digest) for erasure in session.undecided):
                session.withheld = True
            session.undecided.clear()

    async def erase_again(self, session: Session, names: BlockNames) -> None:
        """Delete what a step of ``session`` published before it ended; where too much waits, it
        stays until it is too old.
        """
        with suppress(SplitError):
            await self._threads.run(self._erasing(session, names))

    async def given_up(self, names: BlockNames) -> None:
        """Delete what is kept under ``names``; where too much waits, it goes by age alone."""
        # Behind the copies that were begun before.
        with suppress(SplitError):
            await self._threads.run(lambda: self._pool.purge(names.owner, names.space))

    def _erasing(self, session: Session, names: BlockNames) -> Callable[[], None]:
        """What deletes all that is kept of ``session`` as it is now."""
        digests, also = session.chain.after(0), [*session.traces.names()]
        owner, slack = session.principal, session.traces.grain - 1
        chunks = session.traces.chunk_names()

        def work() -> None:
            exact = [*every_name(names, digests), *also]
            named = [name for one in exact for name in names.in_all_tiers(one)]
            self._pool.cut(owner, named, slack)
            # Nothing stands on a chunk.
            self._pool.cut(owner, chunks)
            if self._disk is None:
                return
            self._disk.cut((name for name in named if not self._pool.knows(name)), owner)
            # What was shortened because others go on from it.
            left = next(filter(None, map(self._pool.find, reversed(named))), None)
            if left is not None:
                self._disk.published(id(session), left)

        return work
