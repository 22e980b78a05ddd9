"""A small disk that can be full, and a limit on files for processes that run."""

from __future__ import annotations

import contextlib
import resource
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SIZE = 96 << 20
_BLOCK = bytes(1 << 20)


@dataclass(frozen=True, slots=True)
class SmallDisk:
    """A file system of its own at ``folder``."""

    folder: Path

    def fill(self) -> None:
        """Leave no byte free."""
        with (self.folder / "filler").open("ab", buffering=0) as filler:
            for size in (len(_BLOCK), 4096, 1):
                with contextlib.suppress(OSError):
                    while filler.write(_BLOCK[:size]):
                        pass

    def free(self) -> None:
        """Make room again."""
        (self.folder / "filler").unlink(missing_ok=True)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk | None]:
    """96 MiB of tmpfs; None where mounting is not allowed (it needs root on Linux)."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def no_file_grows(pid: int, limit: int = 0) -> Iterator[None]:
    """Writes of a process fail beyond ``limit`` bytes of a file (Linux, prlimit(2)).

    The kernel says EFBIG then instead of ENOSPC; Python ignores the signal that comes with it.
    """
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
