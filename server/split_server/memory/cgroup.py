"""Memory that the control groups of this process leave, by version 2 and 1 of Linux' interface.

https://docs.kernel.org/admin-guide/cgroup-v2.html and
https://docs.kernel.org/admin-guide/cgroup-v1/memory.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_ROOT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")


@dataclass(frozen=True, slots=True)
class _Files:
    """The files with a version's figures, and which of ``memory.stat`` the kernel can give up."""

    limit: str
    usage: str
    reclaimable: tuple[str, ...]


_V2 = _Files("memory.max", "memory.current", ("inactive_file", "active_file", "slab_reclaimable"))
_V1 = _Files(
    "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")
)


def cgroup_free(root: Path = _ROOT, own: Path = _OWN) -> int | None:
    """Bytes until the nearest limit of this process's groups; None without a limit.

    Page cache that the kernel would drop first counts as free.
    """
    found = [free for folder, files in _groups(root, own) if (free := _free(folder, files))]
    return min((free[0] for free in found), default=None)


def _free(folder: Path, files: _Files) -> tuple[int] | None:
    """The bytes that one group leaves, in a tuple because 0 is a number too."""
    try:
        limit = (folder / files.limit).read_text().strip()
        # Version 1 writes "no limit" as the largest whole number of pages.
        if limit == "max" or int(limit) >= 1 << 60:
            return None
        used = int((folder / files.usage).read_text())
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return None
    cache = sum(int(stat.get(name, 0)) for name in files.reclaimable)
    return (int(limit) - used + min(cache, used),)


def _groups(root: Path, own: Path) -> Iterator[tuple[Path, _Files]]:
    """The folders of this process's groups and of all groups above them."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            for mount in (root, root / "unified"):
                yield from ((folder, _V2) for folder in _upwards(mount, path))
        elif "memory" in controllers.split(","):
            yield from ((folder, _V1) for folder in _upwards(root / "memory", path))


def _upwards(mount: Path, path: str) -> Iterator[Path]:
    """From the group itself up to the mount; inside a container only the mount may be there."""
    parts = PurePosixPath(path.lstrip("/"))
    for part in (parts, *parts.parents):
        folder = mount / part
        if folder.is_dir():
            yield folder
