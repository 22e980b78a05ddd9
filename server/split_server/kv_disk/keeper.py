"""Keeps the folder within its budget and age, and the index near what lies there."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from split_server.kv_disk.counts import Counts
from split_server.kv_disk.errors import BadFile, DiskUnusable, ForeignFile
from split_server.kv_disk.folder import Folder, Listed
from split_server.kv_disk.index import Entry, Index
from split_server.kv_disk.run_file import Header
from split_server.kv_disk.salts import SaltFile

# Room is made for more than one file, since the order of age costs a look at all.
_SPARE = 32
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DiskLimits:
    """Bytes of all files; seconds after which an unused one goes; and how many files there are,
    whose blocks are known in memory (about 2 KB each).
    """

    total: int = 8 << 30
    ttl: float = 86_400.0
    files: int = 20_000


class Keeper:
    """On one thread; ``wall`` in seconds since 1970."""

    def __init__(
        self,
        folder: Folder,
        index: Index,
        salts: SaltFile,
        limits: DiskLimits,
        counts: Counts,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._folder, self._index, self._salts = folder, index, salts
        self._limits, self._counts, self._wall = limits, counts, wall
        # Bytes of files that others are writing.
        self._writing = 0
        # Files of which nobody can say at present whose they are.
        self._unsure: set[str] = set()

    def scan(self) -> None:
        """Learn what lies in the folder, remove what killed processes left and what has no owner
        any more. Raises OSError.
        """
        with self._folder.locked():
            self._folder.remove_leftovers()
        # Whatever becomes of the look: it is not under the lock, as all headers are read.
        self._folder.look_again()
        self._refresh()
        foreign = sum(entry.header is None for entry in self._index.entries())
        if foreign:
            _log.warning(
                "%d files of kept keys and values were written under another key or version; they "
                "cannot be used and go with age",
                foreign,
            )
        self._index.ready.set()

    def look(self) -> None:
        """Know what others have written and removed meanwhile. Raises OSError."""
        with self._folder.locked():
            self._refresh()

    def begin(self, size: int) -> tuple[Path, BinaryIO] | None:
        """A temporary file of ``size`` bytes, None where there is no room for it.

        Raises OSError.
        """
        with self._folder.locked() as alone:
            if not alone:
                self._refresh()
            most = self._most()
            if size > most:
                return None
            if not self._fits(size, most):
                self._refresh()
                self._make_room(most - size)
            return self._folder.begin(size) if self._fits(size, most) else None

    def sweep(self) -> None:
        """Remove what nobody used for longer than the limit, and what is beyond the budget. Raises
        OSError.
        """
        deadline = self._wall() - self._limits.ttl
        with self._folder.locked():
            self._folder.remove_leftovers()
            self._refresh()
            for entry in self._index.oldest_leaves():
                if entry.used < deadline:
                    self._remove(entry, "age")
            if self._held() > self._limits.total:
                self._make_room(self._limits.total)

    def _most(self) -> int:
        """Bytes that there may be: the file system may give less than the budget."""
        return min(self._limits.total, self._held() + self._folder.free())

    def _held(self) -> int:
        return self._index.total + self._writing

    def _fits(self, size: int, most: int) -> bool:
        return self._held() + size <= most and len(self._index) < self._limits.files

    def _make_room(self, most: int) -> None:
        """Remove files until they have at most ``most`` bytes, and are few enough."""
        spare, files = most - most // _SPARE, self._limits.files
        for entry in self._index.oldest_leaves():
            if self._held() <= spare and len(self._index) <= files - files // _SPARE:
                return
            self._remove(entry, "room")

    def _remove(self, entry: Entry, why: str) -> None:
        if self._folder.remove(entry.name):
            self._index.drop(entry.name)
            self._counts.removed[why] += 1

    def _refresh(self) -> None:
        """Know what others have written and removed. Raises OSError."""
        listed, self._writing = self._folder.listed()
        gone = (self._index.names() - {one.name for one in listed}) | self._unsure
        for name in gone:
            self._index.drop(name)
        self._unsure.clear()
        owners = _Owners(self._salts)
        for one in listed:
            if not self._index.seen(one.name, one.size, one.used):
                with suppress(FileNotFoundError):
                    self._learn(one, self._header(one), owners)

    def _learn(self, one: Listed, header: Header | None, owners: _Owners) -> None:
        known = None if header is None else owners.know(header.owner)
        if header is not None and known is None:
            # It counts, and is looked at again.
            self._unsure.add(one.name)
            header = None
        if known is False:
            # The salt is deleted: the rest of an erasure that was cut off.
            self._counts.failed["unowned"] += 1
            self._folder.remove(one.name)
        elif not self._index.add(Entry(one.name, one.size, one.used, header)):
            self._folder.remove(one.name)

    def _header(self, one: Listed) -> Header | None:
        """None of a file that is not ours. Raises FileNotFoundError where it is there no more."""
        try:
            file, header, _ = self._folder.open(one.name)
        except ForeignFile:
            return None
        except BadFile as bad:
            self._counts.failed[bad.kind] += 1
            if self._folder.remove(one.name):
                raise FileNotFoundError from bad
            return None
        except FileNotFoundError:
            raise
        except OSError:
            self._counts.failed["read"] += 1
            return None
        file.close()
        return header


class _Owners:
    """Whose files there are, at one look: salts are read once for all that are not known."""

    def __init__(self, salts: SaltFile) -> None:
        self._salts = salts
        self._read: bool | None = None

    def know(self, tag: bytes) -> bool | None:
        """Whether somebody's files have ``tag``; None where the salts cannot be read."""
        if self._salts.owner_of(tag) is not None:
            return True
        if self._read is None:
            try:
                self._salts.reload()
                self._read = True
            except DiskUnusable:
                self._read = False
        if self._salts.owner_of(tag) is not None:
            return True
        return False if self._read else None
