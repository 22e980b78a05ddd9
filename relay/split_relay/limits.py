"""Limits on open connections: in total and from one address."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from split_relay.errors import TooManyConnections

# Standard streams, listening sockets, probes, refusals that linger, and the event loop's own.
_SPARE_DESCRIPTORS = 128


class ConnectionLimits:
    """Slots for connections; holds one count per address that has a connection open."""

    def __init__(self, total: int, per_address: int) -> None:
        self._total = total
        self._per_address = per_address
        self._open: Counter[str] = Counter()
        self._count = 0

    @contextmanager
    def slot(self, host: str) -> Iterator[None]:
        """Hold one slot for ``host``; raises :class:`TooManyConnections` when there is none."""
        self._take(host)
        try:
            yield
        finally:
            self._release(host)

    def _take(self, key: str) -> None:
        if self._count >= self._total:
            raise TooManyConnections(self._total, per_address=False)
        if self._open[key] >= self._per_address:
            raise TooManyConnections(self._per_address, per_address=True)
        self._open[key] += 1
        self._count += 1

    def _release(self, key: str) -> None:
        self._count -= 1
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]


def allow_descriptors(connections: int) -> int:
    """Raise this process's soft limit on open files so that ``connections`` fit.

    Returns how many connections do fit (each takes two descriptors).
    """
    needed = 2 * connections + _SPARE_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return connections
    wanted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return min(connections, max(1, (max(wanted, soft) - _SPARE_DESCRIPTORS) // 2))
