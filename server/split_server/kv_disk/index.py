"""What is known of the folder: a hint, which a look at the disk may contradict.

Usable from any thread; nothing here touches the disk.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from split_server.kv_disk.run_file import Header


@dataclass(eq=False, slots=True)
class Entry:
    """A run file of ``size`` bytes; ``header``: None for one that is not ours; ``used`` in seconds
    since 1970.
    """

    name: str
    size: int
    used: float
    header: Header | None


class Index:
    """Run files by name, and by the names of their blocks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, Entry] = {}
        self._by_block: dict[bytes, Entry] = {}
        self._banned: set[bytes] = set()
        # Names of what is being written, and whether it is still wanted.
        self._writing: frozenset[bytes] = frozenset()
        self._writer: bytes | None = None
        self._unwanted = False
        self._total = 0
        self.ready = threading.Event()

    def __len__(self) -> int:
        return len(self._files)

    @property
    def total(self) -> int:
        """Bytes of all files."""
        return self._total

    def has(self, file: str) -> bool:
        """Whether there is a file of that name."""
        return file in self._files

    def seen(self, file: str, size: int, used: float) -> bool:
        """Whether a file of that name and size is known; it was last used then, by whomever."""
        entry = self._files.get(file)
        if entry is None or entry.size != size:
            return False
        entry.used = max(entry.used, used)
        return True

    def knows(self, block: bytes) -> bool:
        """Whether a file has the block of that name."""
        return block in self._by_block

    def names(self) -> set[str]:
        """Of all files."""
        with self._lock:
            return set(self._files)

    def entries(self) -> list[Entry]:
        """All files."""
        with self._lock:
            return [*self._files.values()]

    def writes(self, header: Header) -> None:
        """A file is being written that :meth:`add` shall take."""
        with self._lock:
            self._writing, self._writer = frozenset(header.names.values()), header.owner
            self._unwanted = False

    def add(self, entry: Entry, *, written: bool = False) -> bool:
        """Know a file; False for one that must not be there. ``written``: by this server, now."""
        with self._lock:
            unwanted = written and self._unwanted
            if written:
                self._writing, self._unwanted = frozenset(), False
            header = entry.header
            if unwanted or (header is not None and header.owner in self._banned):
                return False
            self._drop(entry.name)
            self._files[entry.name] = entry
            self._total += entry.size
            for block in () if header is None else header.names.values():
                self._by_block.setdefault(block, entry)
        return True

    def drop(self, file: str) -> None:
        """Forget a file; nothing happens where it is not known."""
        with self._lock:
            self._drop(file)

    def chain(self, block: bytes, held: Callable[[bytes], bool]) -> list[Entry] | None:
        """The files that lead to ``block``, first to last, from the beginning or from behind a
        block that is ``held``; None where one is not known.
        """
        found: list[Entry] = []
        with self._lock:
            while block and not held(block):
                entry = self._by_block.get(block)
                if entry is None or entry.header is None or entry in found:
                    return None
                found.append(entry)
                block = entry.header.parent
        return found[::-1]

    def without(self, blocks: Collection[bytes], owner: bytes | None = None) -> list[Entry]:
        """Forget the files that have any of ``blocks``, also one that is being written, and all
        that follow them; with an ``owner`` only that one's.
        """
        with self._lock:
            found = self._having(blocks, owner)
            names = {name for entry in found for name in _names(entry)}
            # A file begins before those that follow it.
            for entry in sorted(self._files.values(), key=_start):
                if entry not in found and entry.header and entry.header.parent in names:
                    if owner not in (None, entry.header.owner):
                        continue
                    found.add(entry)
                    names.update(_names(entry))
            return self._without(found)

    def cut(
        self, blocks: Collection[bytes], owner: bytes | None = None
    ) -> tuple[list[Entry], dict[Entry, int]]:
        """Forget the files that have any of ``blocks``, also one that is being written, but for
        what others go on from: those that go, and those that go behind a position. With an
        ``owner`` only that one's.
        """
        with self._lock:
            found = self._having(blocks, owner)
            others = (entry for entry in self._files.values() if entry not in found)
            parents = {entry.header.parent for entry in others if entry.header is not None}
            gone, shorter = [], dict[Entry, int]()
            for entry in sorted(found, key=_start, reverse=True):
                names = {} if entry.header is None else entry.header.names
                needed = max((at for at, name in names.items() if name in parents), default=0)
                if needed and entry.header is not None:
                    parents.add(entry.header.parent)
                if needed and needed < max(names):
                    shorter[entry] = needed
                elif not needed:
                    gone.append(entry)
            return self._without(gone), dict(
                zip(self._without(shorter), shorter.values(), strict=True)
            )

    def _having(self, blocks: Collection[bytes], owner: bytes | None) -> set[Entry]:
        """The files that have any of ``blocks``, those of an ``owner`` alone where one is given;
        one that is being written is not wanted then.
        """
        if owner in (None, self._writer):
            self._unwanted = self._unwanted or not self._writing.isdisjoint(blocks)
        if owner is None:
            return {self._by_block[block] for block in blocks if block in self._by_block}
        # Members of a group may have files of the same blocks, of which one is listed.
        return {entry for entry in self._files.values() if _has(entry, owner, blocks)}

    def of(self, owner: bytes, space: bytes | None = None) -> list[Entry]:
        """The files of ``owner``, of a single ``space`` where it is given."""
        with self._lock:
            return [entry for entry in self._files.values() if _belongs(entry, owner, space)]

    def ban(self, owners: Collection[bytes]) -> list[Entry]:
        """Forget the files of ``owners`` for good, also one that is being written."""
        with self._lock:
            self._banned.update(owners)
            # Whose it is that is being written is seen when it is added.
            found = [
                entry
                for entry in self._files.values()
                if entry.header is not None and entry.header.owner in self._banned
            ]
            return self._without(found)

    def oldest_leaves(self) -> Iterator[Entry]:
        """Files that no other one goes on from, the longest unused first; what nothing leads to any
        more before all. A file that has lost the last one behind it follows.
        """
        with self._lock:
            files, behind, useless = list(self._files.values()), Counter[Entry](), set[Entry]()
            for entry in files:
                parent = b"" if entry.header is None else entry.header.parent
                if parent and parent in self._by_block:
                    behind[self._by_block[parent]] += 1
                elif parent:
                    useless.add(entry)
        files.sort(key=lambda entry: (entry not in useless, entry.used))
        while files:
            kept = []
            for entry in files:
                if behind[entry]:
                    kept.append(entry)
                    continue
                yield entry
                parent = b"" if entry.header is None else entry.header.parent
                if parent and (before := self._by_block.get(parent)) is not None:
                    behind[before] -= 1
            if len(kept) == len(files):
                # Files that claim to follow each other in a circle.
                yield from kept
                return
            files = kept

    def _without(self, entries: Iterable[Entry]) -> list[Entry]:
        dropped = list(entries)
        for entry in dropped:
            self._drop(entry.name)
        return dropped

    def _drop(self, file: str) -> None:
        entry = self._files.pop(file, None)
        if entry is None:
            return
        self._total -= entry.size
        for block in () if entry.header is None else entry.header.names.values():
            if self._by_block.get(block) is entry:
                del self._by_block[block]


def _names(entry: Entry) -> Iterable[bytes]:
    return () if entry.header is None else entry.header.names.values()


def _start(entry: Entry) -> int:
    return 0 if entry.header is None else entry.header.start


def _has(entry: Entry, owner: bytes, blocks: Collection[bytes]) -> bool:
    header = entry.header
    if header is None or header.owner != owner:
        return False
    return any(name in blocks for name in header.names.values())


def _belongs(entry: Entry, owner: bytes, space: bytes | None) -> bool:
    header = entry.header
    if header is None or header.owner != owner:
        return False
    return space is None or header.space == space
