"""Limits on what an adapter host holds and computes."""

from __future__ import annotations

import os
from dataclasses import dataclass

_MAX_WORKERS = 8


@dataclass(frozen=True, slots=True)
class HostLimits:
    """Times in seconds, sizes in bytes.

    ``keyless_ttl``: how long a session may wait for its key. ``waiting``: jobs that wait for a
    worker, in all and of one principal. ``cpu_seconds``: processor time of one job, enforced by the
    system inside the worker; ``wall_seconds`` and ``start_seconds`` on the clock.
    ``worker_bytes``: address space of a worker. ``blind_bytes``: single-use encryptions of zero
    that one worker keeps ready. ``strikes_per_principal``: workers that one principal's queries may
    cost before it is refused for a while; one is forgiven each ``strike_seconds``.
    ``masks_per_principal``: one-time masks that one principal may hold, 0: none are made;
    ``masks_in_all``: those of all.
    """

    workers: int = 0
    sessions: int = 256
    sessions_per_principal: int = 16
    ttl: float = 900.0
    keyless_ttl: float = 60.0
    waiting: int = 64
    waiting_per_principal: int = 8
    cpu_seconds: float = 0.9
    wall_seconds: float = 10.0
    start_seconds: float = 120.0
    worker_bytes: int = 2 << 30
    blind_bytes: int = 64 << 20
    strikes_per_principal: int = 8
    strike_seconds: float = 60.0
    masks_per_principal: int = 512
    masks_in_all: int = 1 << 16

    @property
    def processes(self) -> int:
        """Workers to run: as given, else one for each core that this process may use."""
        return self.workers or min(_MAX_WORKERS, usable_cores())


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)
