"""The pages that a program's memory lies on, and programs that get no huge ones.

Linux alone: https://docs.kernel.org/admin-guide/mm/transhuge.html, prctl(2) and proc(5).
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_PR_SET_THP_DISABLE = 41


def keep_pages_small() -> None:
    """No huge pages for this process and all that it starts. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_THP_DISABLE, *map(ctypes.c_ulong, (1, 0, 0, 0))):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def pages_of(pid: int) -> dict[str, int]:
    """Resident bytes of a process: ``mapped`` from files, ``anonymous``, ``huge`` of these."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    kilobytes = {
        name: int(rest.split()[0])
        for name, rest in (line.split(":", 1) for line in text.splitlines()[1:])
    }
    anonymous = kilobytes["Anonymous"]
    return {
        "anonymous": 1024 * anonymous,
        "huge": 1024 * kilobytes["AnonHugePages"],
        "mapped": 1024 * (kilobytes["Rss"] - anonymous),
    }
