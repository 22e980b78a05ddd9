"""The disk under the pool: what is found there, what is written behind, and what is erased.

Nothing of it is read or written on the event loop or the model thread.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from split_server.kv.run import Run
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.counts import Counts
from split_server.kv_disk.errors import DiskUnusable
from split_server.kv_disk.fetcher import Fetcher
from split_server.kv_disk.folder import Folder
from split_server.kv_disk.index import Entry, Index
from split_server.kv_disk.keeper import DiskLimits, Keeper
from split_server.kv_disk.keys import open_key, state_files
from split_server.kv_disk.pause import Pause
from split_server.kv_disk.reader import Reader
from split_server.kv_disk.salts import SaltFile
from split_server.kv_disk.waiting import Waiting
from split_server.kv_disk.worker import Worker
from split_server.kv_disk.writer import Writer
from split_server.threads import Threads
from split_wire.errors import SplitError

# Seconds of idleness after which a session is written, between looks for such sessions, and
# between looks at age and budget.
_IDLE, _BEAT, _SWEEP = 2.0, 0.5, 60.0
# Seconds that a new session waits for the salt of its principal.
_SALT_PATIENCE = 1.0
# Seconds that a purge waits for a look at the folder, or for removals.
_LOOK_PATIENCE = 2.0


class DiskTier:
    """``path``: the folder, ``state``: where key and salts of it lie, ``pool``: what is written and
    where what is read goes. ``clock`` in seconds, ``wall`` in seconds since 1970.

    Raises DiskUnusable. Lives on the event loop, but for what is said to be of any thread.
    """

    def __init__(
        self,
        path: Path,
        state: Path,
        pool: RunPool,
        limits: DiskLimits = DiskLimits(),  # noqa: B008 - it is frozen
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        key_file, salt_file = state_files(path, state)
        key = open_key(key_file)
        self.salts = SaltFile(salt_file, key)
        self.counts, self.index, self.limits = Counts(), Index(), limits
        self._clock = clock
        self._folder = Folder(path, key.id, clock)
        self._folder.make()
        self._waiting = Waiting(_IDLE, clock)
        self._keeper = Keeper(self._folder, self.index, self.salts, limits, self.counts, wall)
        self._write_pause = Pause("writing keys and values to disk", clock)
        pause = Pause("reading keys and values from disk", clock)
        reader = Reader(pool, self._folder, self.index, self.salts, self.counts, pause, wall)
        self._fetcher = Fetcher(pool, self.index, reader, self.counts, pause)
        self._writer = Writer(
            pool,
            reader,
            self._folder,
            self.index,
            self._keeper,
            key,
            self.salts,
            self._waiting,
            self.counts,
            self._write_pause,
            wall,
        )
        self._writing = Worker("kv-disk-write", self._beat, _BEAT)
        self._removing = Worker("kv-disk-remove")
        self._salting = Threads("kv-disk-salts", 1)
        self._salt_pause = Pause("keeping keys and values of newcomers on disk", clock)
        self._swept = clock()

    async def ready(self, principal: str) -> None:
        """Have the salt of ``principal`` known, which other servers of the state folder may have
        drawn; where that folder does not answer, one in memory does until it does.
        """
        if self.salts.stored(principal) or not self._salt_pause.over:
            self.salts.assume(principal)
            return
        try:
            drawn = self._salting.run(lambda: self.salts.draw(principal))
            await asyncio.wait_for(drawn, _SALT_PATIENCE)
        # The server stops, or too much waits.
        except (TimeoutError, SplitError):
            self.salts.assume(principal)
        if self.salts.stored(principal):
            self._salt_pause.passed()
        else:
            self._salt_pause.failed("their salts cannot be read")

    def start(self) -> None:
        """Learn what lies in the folder, beside whatever else is done."""
        self._writing.post(self._scan)

    def close(self) -> None:
        """End the threads; nothing is waited for."""
        self._writing.close()
        self._removing.close()
        self._salting.close()
        self._fetcher.close()

    def published(self, session: int, run: Run) -> None:
        """``run`` is in the pool; it is written once ``session`` is idle. Of any thread."""
        if run.to_disk:
            self._waiting.add(session, run.names[run.end])

    def used(self, session: int) -> None:
        """``session`` is in use. Of any thread."""
        self._waiting.touch(session)

    def ended(self, session: int) -> None:
        """Nobody uses ``session`` any more. Of any thread."""
        self._waiting.ended(session)

    async def flush(self) -> None:
        """Write all that waits, as far as the disk takes it."""
        done: Future[None] = Future()

        def work() -> None:
            try:
                self._writer.write(all_of_them=True)
            finally:
                done.set_result(None)

        if self._writing.post(work):
            await asyncio.wrap_future(done)

    async def put(self, run: Run, patience: float) -> bool:
        """Whether ``run``, which need not be in the pool, is on disk within ``patience`` seconds;
        what it follows is written before.
        """
        done: Future[bool] = Future()

        def work() -> None:
            try:
                done.set_result(self._writer.put(run))
            except BaseException as error:  # noqa: BLE001
                done.set_exception(error)

        if not run.to_disk or not self._writing.post(work):
            return False
        try:
            return await asyncio.wait_for(asyncio.wrap_future(done), patience)
        except (TimeoutError, MemoryError, OSError):
            return False

    async def bring(self, asked: Sequence[tuple[int, bytes]], least: int = 0) -> None:
        """See :meth:`Fetcher.bring`."""
        await self._fetcher.bring(asked, least)

    def remove(self, names: Iterable[bytes], owner: str | None = None) -> int:
        """Delete the files that have blocks with any of ``names``, and all that follow them, those
        of an ``owner`` alone where one is given; how many. Of any thread.
        """
        wanted = frozenset(names)
        keys = None if owner is None else self.salts.keys_of(owner)
        if owner is not None and keys is None:
            return 0
        tag = None if keys is None else keys.tag
        found = self.index.without(wanted, tag)
        self._delete(found)
        if not self.index.ready.is_set():
            self._writing.post(lambda: self._delete(self.index.without(wanted, tag)))
        return len(found)

    def cut(self, names: Iterable[bytes], owner: str) -> None:
        """Delete the blocks of ``owner`` with any of ``names``, but for what other files go on
        from. Of any thread.
        """
        wanted, keys = frozenset(names), self.salts.keys_of(owner)
        if keys is None:
            return

        def work() -> None:
            gone, shorter = self.index.cut(wanted, keys.tag)
            self._delete(gone)
            for entry, end in shorter.items():
                self._writing.post(partial(self._shorten, entry, end))

        work()
        if not self.index.ready.is_set():
            self._writing.post(work)

    def purge(self, principal: str, space: bytes | None = None) -> tuple[int, int]:
        """Delete the files of ``principal``, with ``space`` those of one salt; how many files and
        bytes. Others may have written some: models that are not loaded any more, servers of the
        same folder. Of a thread that may wait for the disk, for two looks at most.
        """
        looked = _waited(self._writing, self._look)
        keys = self.salts.keys_of(principal)
        if keys is None:
            return 0, 0

        def purged() -> list[Entry]:
            found = self.index.of(keys.tag, space)
            names = (
                name for entry in found if entry.header for name in entry.header.names.values()
            )
            self._delete(self.index.without(frozenset(names), keys.tag))
            return found

        found = purged()
        # Whoever looks next, another model say, does not find them.
        _waited(self._removing, lambda: None)
        if not looked or not self.index.ready.is_set():
            self._writing.post(lambda: _nothing(purged()))
        return len(found), sum(entry.size for entry in found)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Delete salts and files of principals that are ``gone``. Of any thread."""
        self.salts.forget(gone)
        tags = self.salts.erased()
        if not tags:
            return
        found = self.index.ban(tags)
        self._removing.post(self._erase)
        self._delete(found)

    def figures(self, principal: str) -> dict[str, Any]:
        """What the disk holds of ``principal``. Of any thread."""
        keys = self.salts.keys_of(principal)
        found = [] if keys is None else self.index.of(keys.tag)
        return {
            "files": len(found),
            "bytes": sum(entry.size for entry in found),
            "limit_bytes": self.limits.total,
            "ttl_seconds": self.limits.ttl,
        }

    def _delete(self, entries: Sequence[Entry]) -> None:
        def work() -> None:
            for entry in entries:
                self._folder.remove(entry.name)

        if entries:
            self._removing.post(work)

    def _shorten(self, entry: Entry, end: int) -> None:
        # What cannot be written is computed again by whoever needs it.
        with suppress(OSError, MemoryError, RuntimeError):
            self._writer.shorten(entry, end)

    def _erase(self) -> None:
        with suppress(DiskUnusable):
            self.salts.erase()

    def _look(self) -> None:
        with suppress(OSError):
            self._keeper.look()

    def _scan(self) -> None:
        try:
            self._keeper.scan()
        except OSError as error:
            self._write_pause.failed(error.strerror or "it cannot be read")

    def _beat(self) -> None:
        if not self._write_pause.over:
            return
        if not self.index.ready.is_set():
            self._scan()
        self._writer.write()
        if self._clock() - self._swept < _SWEEP:
            return
        self._swept = self._clock()
        if self.salts.unfinished:
            self._erase()
        try:
            self._keeper.sweep()
        except OSError as error:
            self._write_pause.failed(error.strerror or "it cannot be read")


def _waited(worker: Worker, job: Callable[[], None]) -> bool:
    """Whether ``worker`` has done ``job``, and what was to be done before it, soon enough."""
    done = threading.Event()

    def work() -> None:
        try:
            job()
        finally:
            done.set()

    return worker.post(work) and done.wait(_LOOK_PATIENCE)


def _nothing(_: object) -> None:
    """Nobody waits for it."""
