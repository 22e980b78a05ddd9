"""The cores that this process may count on: its mask, its CPU quota, and what others leave."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import psutil

_SAMPLE_SECONDS = 0.2
# Others keep a core busy from this share of it on: a parallel product waits for its slowest part.
_TAKEN_FROM = 0.25
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")


@dataclass(frozen=True, slots=True)
class CpuSample:
    """Seconds: of a clock, idle on all ``cores`` together, and used by this process."""

    clock: float
    idle: float
    own: float


def free_cores(
    cores: frozenset[int] | None = None,
    quota: Callable[[], float | None] | None = None,
    sample: Callable[[frozenset[int]], CpuSample] | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> int:
    """Cores for this process, at least 1; looks at what others do for a fifth of a second."""
    own = cores if cores is not None else available_cores()
    limit = (quota or cpu_quota)()
    left = len(own) - _taken(own, sample or _sample, pause)
    if limit is not None:
        left = min(left, math.floor(limit))
    return max(1, left)


def available_cores() -> frozenset[int]:
    """The cores that this process may run on, by number."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


def _taken(
    cores: frozenset[int],
    sample: Callable[[frozenset[int]], CpuSample],
    pause: Callable[[float], None],
) -> int:
    """The number of ``cores`` that other processes keep busy."""
    before = sample(cores)
    pause(_SAMPLE_SECONDS)
    after = sample(cores)
    seconds = after.clock - before.clock
    if seconds <= 0:
        return 0
    used = len(cores) * seconds - (after.idle - before.idle) - (after.own - before.own)
    return max(0, math.floor(used / seconds + 1 - _TAKEN_FROM))


def _sample(cores: frozenset[int]) -> CpuSample:
    times = psutil.cpu_times(percpu=True)
    known = [times[core] for core in cores if core < len(times)]
    idle = sum(core.idle + getattr(core, "iowait", 0.0) for core in known)
    clock = time.monotonic()
    # Cores whose times are unknown count as idle.
    return CpuSample(clock, idle + (len(cores) - len(known)) * clock, time.process_time())


def cpu_quota(root: Path = _CGROUPS, own: Path = _OWN_CGROUPS) -> float | None:
    """The tightest CPU quota of this process's control groups, in cores; None without one.

    https://docs.kernel.org/admin-guide/cgroup-v2.html (cpu.max) and
    https://docs.kernel.org/scheduler/sched-bwc.html (version 1).
    """
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return None
    quotas = [_quota(folder) for line in lines for folder in _folders(root, line)]
    return min((quota for quota in quotas if quota is not None), default=None)


def _folders(root: Path, line: str) -> Iterator[Path]:
    """The folders of CPU limits: of the group of a line of /proc/self/cgroup and all above it."""
    _, controllers, path = line.split(":", 2)
    if controllers and "cpu" not in controllers.split(","):
        return
    mounts = (root / controllers, root / "cpu") if controllers else (root, root / "unified")
    group = PurePosixPath(path.lstrip("/"))
    for mount in mounts:
        # Inside a container only the mount itself may be there.
        yield from (mount / part for part in (group, *group.parents))


def _quota(folder: Path) -> float | None:
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        # "max" and -1 stand for no limit.
        return int(quota) / int(period) if int(quota) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
