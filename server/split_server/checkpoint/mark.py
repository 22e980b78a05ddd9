"""Whether a checkpoint on disk is as it was, without reading it."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TypeAlias

# Files of a folder that are looked at.
_MOST = 4096
# Of each file its name, its number, its bytes and when it was changed.
Mark: TypeAlias = tuple[tuple[str, int, int, int], ...]


def mark_of(path: str | None) -> Mark | None:
    """Of a folder or file; another one once something in it has changed. None where there is
    nothing, or it cannot be looked at.
    """
    if path is None:
        return None
    try:
        place = Path(path)
        if not place.is_dir():
            return (_mark(place, ""),)
        with os.scandir(place) as entries:
            found = [_mark(Path(entry), entry.name) for entry in islice(entries, _MOST)]
    # What is no path at all, as a name of the hub's may be, is an error of the second kind.
    except (OSError, ValueError):
        return None
    return tuple(sorted(found))


def _mark(path: Path, name: str) -> tuple[str, int, int, int]:
    try:
        found = path.stat()
    except OSError:
        # A link that leads nowhere yet.
        found = path.lstat()
    return name, found.st_ino, found.st_size, found.st_mtime_ns
