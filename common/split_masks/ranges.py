"""Numbers of masks that were handed out or taken, in a file: none comes back after a crash.

A range is on the disk before its first number is used, so whatever happens to the process the rest
of the range is lost and the next one lies behind it. The file is changed under a lock between
processes and replaced as a whole: ``{"version": 1, "name": 32 hexadecimal digits, "next": {label:
number}}``. A file that is made anew has another name.

The side that hands out keeps a count for each label, the side that takes one for each name that it
was told.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from split_files import DocumentInvalid, is_version, parse_document, read_regular, take_lock
from split_masks.errors import (
    MalformedRange,
    RangesBusy,
    RangesDamaged,
    RangesFull,
    RangesUnusable,
    RangeTaken,
)
from split_masks.limits import MOST_IN_A_RANGE

NAME_BYTES: Final = 16
_STRUCT: Final = struct.Struct(f"<{NAME_BYTES}sQH")
RANGE_BYTES: Final = _STRUCT.size
_MOST_NUMBER: Final = 1 << 62
_MOST_BYTES: Final = 16 << 20
_TRIES: Final = 100
_PAUSE: Final = 0.02
_NAME: Final = re.compile("[0-9a-f]{32}")
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class MaskRange:
    """``count`` numbers from ``first``, of whoever counts under ``name``."""

    name: bytes
    first: int
    count: int

    def __contains__(self, number: int) -> bool:
        return self.first <= number < self.end

    @property
    def end(self) -> int:
        """The first number behind it."""
        return self.first + self.count

    def pack(self) -> bytes:
        """As it travels."""
        return _STRUCT.pack(self.name, self.first, self.count)

    @classmethod
    def parse(cls, data: bytes) -> MaskRange:
        """What :meth:`pack` made. Raises MalformedRange."""
        if len(data) != RANGE_BYTES:
            raise MalformedRange(f"{len(data)} bytes instead of {RANGE_BYTES}")
        made = cls(*_STRUCT.unpack(data))
        if not (0 < made.count <= MOST_IN_A_RANGE and made.end <= _MOST_NUMBER):
            raise MalformedRange(f"{made.count} numbers from {made.first}")
        return made


@dataclass(slots=True)
class _Numbers:
    name: str
    next: dict[str, int]


class RangeFile:
    """``write`` replaces a file as a whole and returns when that is on the disk.

    ``most``: labels to keep. Safe among threads and processes.
    """

    def __init__(
        self,
        path: Path,
        write: Callable[[Path, bytes], None],
        *,
        most: int = 1 << 16,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.path = path
        self._write, self._most, self._pause = write, most, pause

    def reserve(self, label: str, count: int) -> MaskRange:
        """Numbers that nobody was given; on the disk when this returns. Raises RangesUnusable."""
        with self._changed() as numbers:
            first = numbers.next.get(label, 0)
            if label not in numbers.next and len(numbers.next) >= self._most:
                raise RangesFull(self.path, self._most)
            numbers.next[label] = first + count
            name = hashlib.sha256(bytes.fromhex(numbers.name) + label.encode()).digest()
        return MaskRange(name[:NAME_BYTES], first, count)

    def accept(self, given: MaskRange) -> None:
        """Take a range that somebody handed out; on the disk when this returns.

        The name that was taken from longest ago makes room for another one. Raises RangeTaken for
        numbers that were taken before, RangesUnusable.
        """
        label = given.name.hex()
        with self._changed() as numbers:
            free = numbers.next.pop(label, 0)
            if given.first < free:
                raise RangeTaken(given.first, free)
            while len(numbers.next) >= self._most:
                del numbers.next[next(iter(numbers.next))]
            numbers.next[label] = given.end

    def reserved(self) -> dict[str, int]:
        """The first number of each label that was never given. Raises RangesUnusable."""
        with self._told():
            return self._read().next

    @contextmanager
    def _changed(self) -> Iterator[_Numbers]:
        """The numbers, written back unless the block raises."""
        with self._told(), self._locked():
            numbers = self._read()
            yield numbers
            document = {"version": _VERSION, "name": numbers.name, "next": numbers.next}
            self._write(self.path, json.dumps(document).encode())

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RangesUnusable(self.path, error.strerror or str(error)) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self.path.with_name(self.path.name + ".lock")
        for _ in range(_TRIES):
            try:
                held = take_lock(lock, wait=False)
            except BlockingIOError:
                self._pause(_PAUSE)
            else:
                with held:
                    yield
                return
        raise RangesBusy(self.path)

    def _read(self) -> _Numbers:
        try:
            document = parse_document(read_regular(self.path, _MOST_BYTES), 2 * self._most + 16)
        except FileNotFoundError:
            return _Numbers(secrets.token_hex(NAME_BYTES), {})
        except DocumentInvalid as error:
            raise RangesDamaged(self.path, str(error)) from error
        match document:
            case {"version": version, "name": str(name), "next": dict(counts)}:
                if is_version(version, _VERSION) and _NAME.fullmatch(name) and _counts(counts):
                    return _Numbers(name, counts)
        raise RangesDamaged(self.path, "it is not what this program writes")


def _counts(counts: dict[str, object]) -> bool:
    return all(type(count) is int and 0 <= count <= _MOST_NUMBER for count in counts.values())
