"""Idle sessions that make way for others' memory, kept in less of it first, or on disk.

The pool has what sessions leave of the memory. So what is to follow a session there is copied
first, the session given up, and then the copy put into the room that it left.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from split_server.kv.block_key import BlockNames
from split_server.kv.run import Run, Span
from split_server.kv_disk.tier import DiskTier
from split_server.sessions.keeping.copies import Copies, made_run
from split_server.sessions.keeping.naming import Naming
from split_server.sessions.keeping.worth import WORTH_LOOKING
from split_server.sessions.session import Session
from split_server.threads import Threads
from split_wire.errors import SplitError

# Seconds that somebody waits at most for the memory of one session.
_PATIENCE = 5.0
_Parts: TypeAlias = Sequence[tuple[int, int]]
_log = logging.getLogger(__name__)


class SettingAside:
    """``copies`` has the pool take them, ``threads`` make them; ``clock`` in seconds."""

    def __init__(
        self,
        copies: Copies,
        naming: Naming,
        disk: DiskTier | None,
        threads: Threads,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._copies, self._naming, self._disk = copies, naming, disk
        self._threads, self._clock = threads, clock

    def pays(self, session: Session) -> bool:
        """Whether less memory, or the disk, takes what ``session`` holds and may be kept."""
        if self._naming.publishes(session) is None or session.sure < WORTH_LOOKING:
            return False
        if len(session.chain) != session.cache.length:
            return False
        return session.keeps == "int8" or self._copies.writes(session)

    async def set_aside(self, session: Session, done: Callable[[], None]) -> None:
        """Keep what ``session`` holds, that nobody uses any more; ``done`` frees its memory.

        Raises nothing: what is not kept is computed again.
        """
        names = self._naming.publishes(session)
        runs, held = list[Run](), list[Span]()
        try:
            if names is not None:
                parent, parts = await self._threads.run(lambda: self._missing(session, names, held))
                if session.keeps == "int8":
                    await self._threads.run(lambda: _make(session, names, parent, parts, runs))
                elif self._disk is not None:
                    await self._write(session, names, parent, parts, self._disk)
        # The server stops, too much waits, or memory is short.
        except (SplitError, RuntimeError, MemoryError, OSError) as error:
            _log.warning("an idle session was not kept: %s", type(error).__name__)
        finally:
            done()
            self._copies.add_all(session, runs)
            self._copies.let_go(held)
            if self._disk is not None:
                self._disk.ended(id(session))

    def _missing(
        self, session: Session, names: BlockNames, held: list[Span]
    ) -> tuple[Run | None, _Parts]:
        """What of the session is not kept, and the run that it follows, which stays until it is let
        go.
        """
        parent, parts = self._copies.missing(session, names, session.sure, session.chain.at)
        if parent is not None:
            held += self._copies.hold(parent)
        return parent, parts

    async def _write(
        self,
        session: Session,
        names: BlockNames,
        parent: Run | None,
        parts: _Parts,
        disk: DiskTier,
    ) -> None:
        """Write ``parts`` run by run, for as long as somebody may wait for it."""
        deadline, runs = self._clock() + _PATIENCE, list[Run]()
        for part in parts:
            behind = runs[-1] if runs else parent
            await self._threads.run(partial(_make, session, names, behind, [part], runs))
            left = deadline - self._clock()
            if session.withheld or left <= 0 or not await disk.put(runs[-1], left):
                return
            # Names alone are needed of what is written.
            runs[-1].layers = []


def _make(
    session: Session, names: BlockNames, parent: Run | None, parts: _Parts, runs: list[Run]
) -> None:
    """Copy ``parts`` of what ``session`` holds to the end of ``runs``."""
    for first, last in parts:
        parent = made_run(session, names, first, last, session.chain.at, parent)
        runs.append(parent)
