"""The relay's counters; nothing here depends on what the bytes say."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Counts since the start; ``active`` is the number of connections open at this moment.

    ``bytes_up`` went to the upstream, ``bytes_down`` to the clients.
    """

    connections: int = 0
    active: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    refused: int = 0
    upstream_failures: int = 0
    idle_closed: int = 0

    def __str__(self) -> str:
        return (
            f"{self.connections} connections, {self.active} active, "
            f"{readable_bytes(self.bytes_up)} up, {readable_bytes(self.bytes_down)} down, "
            f"{self.refused} refused, {self.upstream_failures} upstream failures, "
            f"{self.idle_closed} closed idle"
        )


@dataclass(slots=True)
class Counters:
    """The running counts; only the event loop's thread changes them."""

    connections: int = 0
    active: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    refused: int = 0
    upstream_failures: int = 0
    idle_closed: int = 0

    def snapshot(self) -> Snapshot:
        return Snapshot(**asdict(self))


def readable_bytes(count: int) -> str:
    """``count`` in decimal units (IEC 80000-13): 999 B, 1.0 kB, 12.3 MB."""
    if count < 1000:
        return f"{count} B"
    size = float(count)
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 999.95:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"
