"""One WebSocket whose messages come in one-byte fragments, beside somebody's ``/health``."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from scripts.bench.attacks.figure import Figure
from scripts.bench.attacks.raw import BINARY, CONTINUED, LAST, PING, frame, stream
from scripts.bench.attacks.watched import quiet, watching
from scripts.bench.logged_server import logged_server

_TOKEN = "a-token-of-enough-length"  # noqa: S105 - of a server that lives for seconds
_SECONDS = 10.0
_FLOODS = {
    "fragments of one byte": frame(BINARY, b"x") + 40_000 * frame(CONTINUED, b"x"),
    "empty fragments": frame(BINARY, b"") + 40_000 * frame(CONTINUED, b""),
    "messages of one byte": 40_000 * frame(LAST | BINARY, b"x"),
    "pings": 40_000 * frame(LAST | PING, b"x"),
}


def attack(folder: Path) -> list[Figure]:
    """``/health`` under each flood, one socket at a time."""
    with logged_server(folder / "fragments.log", "--token", _TOKEN) as server:
        figures = [quiet(server.url)]
        for name, flood in _FLOODS.items():
            with watching(server.url) as watched:
                _send(server.url, flood)
            found = watched.figure()
            figures.append(Figure(f"{name}: {found.name}", found.value, found.bar, found.held))
        faults = len(server.faults())
    return [*figures, Figure("errors in the log", str(faults), "0", not faults)]


def _send(url: str, flood: bytes) -> None:
    """Send it again and again for ten seconds, over a new socket whenever one is closed."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError), stream(url, _TOKEN) as made:
            made.settimeout(0.5)
            while time.monotonic() < until:
                made.sendall(flood)
