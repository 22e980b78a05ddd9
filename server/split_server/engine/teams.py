"""Teams of OpenMP's threads: one of a thread that computes, until it lets it go."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

_MAPS = Path("/proc/self/maps")
# omp_pause_soft (OpenMP 5.0, section 3.2.43): settings stay, threads go.
_SOFT = 1


def release_team() -> None:
    """End the threads that help the calling one with its products; the next product makes others,
    which takes about a tenth of a millisecond.

    Once all teams of a process have more threads than there are cores, GNU's OpenMP has each of
    them sleep between two products. Nothing happens without a team, inside of a product, and where
    torch has another OpenMP.
    """
    _pause()()


@cache
def _pause(maps: str | None = None) -> Callable[[], object]:
    """What lets a team go, in the library that torch brought; nothing where there is none."""
    for path in _libraries(_read_maps() if maps is None else maps):
        try:
            function = ctypes.CDLL(path).omp_pause_resource_all
        except (OSError, AttributeError):
            continue
        function.argtypes = (ctypes.c_int,)
        return lambda: function(_SOFT)
    return lambda: None


def _libraries(maps: str) -> list[str]:
    """Paths of GNU's OpenMP in proc_pid_maps(5), torch's first: another engine may have its own."""
    paths = {line.split(maxsplit=5)[5] for line in maps.splitlines() if "/libgomp" in line}
    return sorted(paths, key=lambda path: "/torch" not in path)


def _read_maps() -> str:
    try:
        return _MAPS.read_text() if sys.platform.startswith("linux") else ""
    except OSError:
        return ""
