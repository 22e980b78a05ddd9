"""Reads run files into the pool."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import BinaryIO, TypeVar

from split_client.owner_file import reason
from split_server.kv.lineage import is_worse
from split_server.kv.run import MOST_POSITIONS, Run
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.counts import Counts
from split_server.kv_disk.errors import BadFile, DiskUnusable, ForeignFile
from split_server.kv_disk.folder import Folder
from split_server.kv_disk.index import Entry, Index
from split_server.kv_disk.keys import OwnerKeys
from split_server.kv_disk.pause import Pause
from split_server.kv_disk.run_file import Header, file_name
from split_server.kv_disk.salts import SaltFile
from split_server.kv_disk.seal import opened

# Names that are opened before a miss counts as one: the index is a hint.
MOST_OPENED = 8
_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class Reader:
    """On one thread; ``wall`` in seconds since 1970."""

    def __init__(
        self,
        pool: RunPool,
        folder: Folder,
        index: Index,
        salts: SaltFile,
        counts: Counts,
        pause: Pause,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._pool, self._folder, self._index, self._salts = pool, folder, index, salts
        self._counts, self._pause, self._wall = counts, pause, wall

    def read(self, entry: Entry) -> bool:
        """Whether the pool has the run of that file now; its parent has to be there."""
        begun = time.perf_counter()
        run = self._guarded(entry.name, lambda: self._run(entry.name))
        if run is None:
            return False
        run.fetched = True
        entry.used = self._wall()
        self._folder.touch(entry.name, entry.used)
        self._counts.done("read", time.perf_counter() - begun)
        self._pause.passed()
        # Another thread may have computed the same meanwhile.
        return self._pool.add(run) or self._pool.knows(run.names[run.end])

    def load(self, name: str) -> Run | None:
        """The run of the file of that name, with no parent; None where there is none."""
        return self._guarded(name, lambda: self._whole(name))

    def look(self, asked: Sequence[tuple[int, bytes]]) -> None:
        """Look for files that end with one of ``asked``, positions and names of blocks, the longest
        first, and are not known yet, and for what they go on from; at most ``MOST_OPENED`` names
        are tried in vain.
        """
        for block in self._worth_trying(asked)[:MOST_OPENED]:
            wanted: bytes | None = block
            while wanted and not (self._index.knows(wanted) or self._pool.knows(wanted)):
                name = wanted
                header = self._guarded(file_name(name), partial(self._found, name))
                wanted = None if header is None else header.parent
            # What leads to it is whole; otherwise one name was tried in vain.
            if wanted is not None:
                return

    def _worth_trying(self, asked: Sequence[tuple[int, bytes]]) -> list[bytes]:
        """Names whose files are listed, and few of others, which a list may lack yet."""
        listed: frozenset[str] = frozenset()
        with suppress(OSError):
            listed = self._folder.names()
        likely = _likely(asked)
        return [name for _, name in asked if name in likely or file_name(name) in listed]

    def _found(self, block: bytes) -> Header:
        file, header, size = self._folder.open(file_name(block))
        file.close()
        if self._owner(header) is None:
            raise ForeignFile
        self._index.add(Entry(header.file_name, size, self._wall(), header))
        return header

    def _owner(self, header: Header) -> tuple[str, OwnerKeys] | None:
        """Whose file it is; another server may have drawn a salt since the last look."""
        owner = self._salts.owner_of(header.owner)
        if owner is None:
            with suppress(DiskUnusable):
                self._salts.reload()
            owner = self._salts.owner_of(header.owner)
        return owner

    def _run(self, name: str) -> Run | None:
        """The run as the pool takes it, None where that has no room for it."""
        file, header, _ = self._folder.open(name)
        with file:
            owner = self._owner(header)
            parent = self._pool.find(header.parent) if header.parent else None
            if parent is not None and is_worse(parent.tier, header.tier):
                return None
            if owner is None or (header.start and parent is None):
                return None
            if not self._pool.room_for(owner[0], header.sealed, parent):
                return None
            return _run(*owner, file, header, parent)

    def _whole(self, name: str) -> Run | None:
        file, header, _ = self._folder.open(name)
        with file:
            owner = self._owner(header)
            return None if owner is None else _run(*owner, file, header, None)

    def _guarded(self, name: str, work: Callable[[], _T | None]) -> _T | None:
        """What ``work`` makes of the file of that name; None where that is nothing good."""
        try:
            return work()
        except (FileNotFoundError, ForeignFile):
            # Another server removed it, or put its own there.
            self._index.drop(name)
        except BadFile as bad:
            self._counts.failed[bad.kind] += 1
            self._index.drop(name)
            self._folder.remove(name)
        except OSError as error:
            self._counts.failed["read"] += 1
            self._pause.failed(reason(error))
        # No memory for it: whatever it holds can still be computed.
        except (MemoryError, RuntimeError) as error:
            _log.warning("kept keys and values were not read: %s", type(error).__name__)
        return None


def _likely(asked: Sequence[tuple[int, bytes]]) -> set[bytes]:
    """Names that a file may end with: the longest ones, and whole runs."""
    half = MOST_OPENED // 2 - 1
    whole = [name for position, name in asked[half:] if position % MOST_POSITIONS == 0]
    return {*(name for _, name in asked[:half]), *whole[:half]}


def _run(
    principal: str, keys: OwnerKeys, file: BinaryIO, header: Header, parent: Run | None
) -> Run:
    held = opened(file, header, keys.cipher)
    return Run(
        principal,
        header.start,
        header.end,
        held.digests,
        header.names,
        held.layers,
        parent,
        space=header.space,
        tier=header.tier,
        scales=held.scales,
        expands_to=held.dtype if held.scales else None,
    )
