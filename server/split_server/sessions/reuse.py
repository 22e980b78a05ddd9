"""What sessions computed, kept for later ones: published, found again and taken in.

Published is what a step has appended, on the model thread before its answer is told, and what a
session holds when it ends. It is taken in at the beginning of a step that sends it again, and when
a device asks for it before it sends.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol

import torch

from split_server.kv.block_key import BLOCK, GROUPS, PUBLIC, BlockNames, Namespaces
from split_server.kv.pins import PINNED_SHARE
from split_server.kv.run import Span
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.tier import DiskTier
from split_server.sessions.audit import Audit
from split_server.sessions.cache_groups import Share
from split_server.sessions.keeping.chunks import Chunks
from split_server.sessions.keeping.copies import Copies
from split_server.sessions.keeping.forgetting import Forgetting
from split_server.sessions.keeping.naming import Naming
from split_server.sessions.keeping.publishing import Publishing
from split_server.sessions.keeping.setting_aside import SettingAside
from split_server.sessions.keeping.sharing import Sharing
from split_server.sessions.keeping.taking_in import TakingIn
from split_server.sessions.session import Session
from split_server.threads import Threads
from split_wire.probe import Probe
from split_wire.tiers import Tier

_HOST = torch.device("cpu")


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
    with what is computed again; ``disk``: what outlives the process, None without; ``tiers``: in
    which sessions may have theirs kept; ``sharing``: common beginnings that sessions hold once,
    None where each has its own.
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
        sharing: Sharing | None = None,
        tiers: tuple[Tier, ...] = ("exact",),
    ) -> None:
        self.pool = pool
        self.sharing = sharing
        self.audit = audit
        self.disk = disk
        # Told of what is dropped on request.
        self.beside: Beside | None = None
        if audit is not None and disk is not None:
            audit.also_removed = disk.remove
        # One, so that copies never take more than one processor from the model.
        self._threads = threads = Threads("kv", 1)
        self.tiers = tiers
        self._naming = naming = Naming(
            namespaces, strangers, public=public, audit=audit, tiers=tiers
        )
        copies = Copies(pool, naming, disk)
        # What sessions of the approximate tier find by what it says.
        self.chunks = Chunks(pool, naming, copies)
        self._forgetting = Forgetting(pool, disk, copies, threads)
        self._publishing = Publishing(copies, naming, self._forgetting, disk, threads)
        self._setting_aside = SettingAside(copies, naming, disk, threads)
        self._taking_in = TakingIn(
            pool, naming, self._publishing, threads, device, audit, disk, sharing
        )

    @property
    def taken(self) -> Counter[str]:
        """Positions that were taken in: asked for by their device, sent in vain, waited for, or
        read from disk before, whichever way they were found.
        """
        return self._taking_in.taken

    @property
    def taken_tiers(self) -> Counter[Tier]:
        """The same positions by the tiers that they came from."""
        return self._taking_in.of_tier

    @property
    def parking(self) -> set[asyncio.Task[None]]:
        """What copies sessions that have ended, or deletes what is kept of them."""
        return self._publishing.parking

    async def ready(self, principal: str, *, grouped: bool = False) -> None:
        """Have what names are made of at hand, so that no disk is waited for when they are;
        ``grouped``: those of groups as well.
        """
        if self.disk is not None:
            for owner in (principal, GROUPS) if grouped else (principal,):
                await self.disk.ready(owner)

    def names_of(self, principal: str, salt: str | None) -> BlockNames | None:
        """Under which a session of ``principal`` publishes and finds; None where it does not."""
        return self._naming.of(principal, salt)

    def names_apart(self, principal: str) -> BlockNames:
        """Names of a session of ``principal`` that nobody else publishes or finds."""
        return self._naming.apart(principal)

    def name(
        self,
        session: Session,
        salt: str | None,
        share: Share | None = None,
        takes: Tier = "exact",
    ) -> None:
        """What ``session`` computes is kept for sessions of its principal and ``salt``, what it
        ``share``-s for those of the group; it finds that and what is public, in no worse tier than
        it ``takes``.
        """
        self._naming.name(session, salt, share, takes)

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
        finds = self._naming.found_by(names)
        ends = range(len(digests) - len(digests) % BLOCK, 0, -BLOCK)
        named = [find.name(end, digests[end - 1]) for end in ends for find in finds]
        return self.pool.pin(named, self.pinnable(principal), seconds)

    def stopped(self, principal: str) -> bool:
        """Whether nothing is kept for ``principal`` since audits of it failed."""
        return self._naming.stopped(principal)

    def is_shared(self, principal: str) -> bool:
        """Whether many people may be ``principal``."""
        return self._naming.is_shared(principal)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop what is kept of principals that are ``gone``."""
        self._naming.forget(gone)
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
        self._publishing.publish(session, start, digests, guessed)

    def keep(self, session: Session) -> None:
        """Publish all that ``session``, no step of which runs, holds and may be kept. On a thread
        that may read its cache.
        """
        self._publishing.keep_all(session)

    def rest(self, session: Session) -> int:
        """Where the few blocks end that a session which rests has not published yet and may have
        written; 0 where there are none.
        """
        return self._publishing.rest(session)

    async def keep_rest(self, session: Session, end: int) -> None:
        """Publish up to ``end``, see :meth:`rest`; no step of ``session`` begins meanwhile. Raises
        Overloaded, ShuttingDown.
        """
        await self._publishing.keep_rest(session, end)

    def keep_cut_off(self, session: Session, start: int) -> None:
        """Keep what ``session`` holds behind ``start``, which it is about to give up. From any
        thread that may read its cache.
        """
        self._publishing.keep_cut_off(session, start)

    def spliced(self, positions: int, source: str = "spliced") -> None:
        """So many positions were moved to another place in a session, from this ``source``. On the
        event loop.
        """
        self._taking_in.moved(positions, source)

    def park(self, session: Session, done: Callable[[], None]) -> bool:
        """Publish all that a session holds that nobody uses any more, then call ``done``; False
        where there is nothing to publish, and ``done`` is never called. On the event loop.
        """
        return self._publishing.park(session, done)

    def set_aside(self, session: Session, done: Callable[[], None]) -> bool:
        """Keep what a session holds that makes way for others' memory, in less of it or on disk,
        then call ``done``; False where there is nothing of that, and ``done`` is never called. On
        the event loop.
        """
        if not self._setting_aside.pays(session):
            return False
        return self._publishing.begin(self._setting_aside.set_aside(session, done))

    def give_up(self, names: BlockNames) -> None:
        """Have nothing kept under ``names``, which are one session's alone. On the event loop."""
        self._publishing.give_up(names)

    async def purge(self, principal: str, salt: str | None) -> tuple[int, int]:
        """Delete what is kept of ``principal``, of one ``salt`` if it is given; runs and bytes.

        Raises Overloaded, ShuttingDown.
        """
        await self.ready(principal)
        space = None if salt is None else self._naming.space(principal, salt)
        if self.beside is not None:
            self.beside.purge(principal, salt)
        return await self._forgetting.purge(principal, space)

    async def erase(self, session: Session, others: Iterable[Session] = ()) -> None:
        """Have nothing kept of ``session``, which publishes nothing from now on; what other runs
        go on from stays. Neither do those of ``others`` that hold the same text, or a part of it
        that nothing else stands on. On the event loop. Raises Overloaded, ShuttingDown.
        """
        await self._forgetting.erase(session, others)

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
        return self._taking_in.taken_in(session, start, digests, waited_from)

    async def fetch(self, session: Session, start: int, digests: list[bytes]) -> None:
        """Have the pool hold what the disk has of the rows behind ``start``, where that saves
        computing them. On the event loop, before the step is queued.
        """
        await self._taking_in.fetch(session, start, digests)

    async def restored(self, session: Session, start: int, spans: list[Span]) -> int:
        """Positions that ``session``, which has no step under way, holds after ``spans`` were taken
        in behind ``start``, by a thread of its own; its chain names them. On the event loop.
        """
        return await self._taking_in.restored(session, start, spans)

    async def found(self, session: Session, start: int, probe: Probe) -> list[Span]:
        """The spans of the longest known prefix of ``probe`` behind ``start``, from position 0 on;
        empty where none is known, else they are to be let go.
        """
        return await self._taking_in.found(session, start, probe)
