"""A control group of memory below that of this process, for programs that are to have the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")


class Group:
    """``folder`` of the group; its page cache counts as what its processes hold does."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, pid: int) -> None:
        """Have a process be limited. Raises OSError."""
        (self._folder / "cgroup.procs").write_text(str(pid))


@contextmanager
def limited(size: int) -> Iterator[Group | None]:
    """A group of ``size`` bytes, None where none can be made; its processes have ended before."""
    made: Path | None = None
    with suppress(OSError, StopIteration):
        made = _made(size)
    try:
        yield None if made is None else Group(made)
    finally:
        if made is not None:
            made.rmdir()


def _made(size: int) -> Path:
    parent, file = _own()
    folder = parent / "split-bench-streamed"
    folder.mkdir(exist_ok=True)
    try:
        (folder / file).write_text(str(size))
    except OSError:
        folder.rmdir()
        raise
    return folder


def _own() -> tuple[Path, str]:
    """The folder of this process's group of memory, and its file with the limit."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return _ROOT / "memory" / path.lstrip("/"), "memory.limit_in_bytes"
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    path = next(line.split(":", 2)[2] for line in lines if line.startswith("0::"))
    return _ROOT / path.lstrip("/"), "memory.max"
