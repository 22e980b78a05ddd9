"""One WebSocket whose messages come in one-byte fragments, beside somebody's ``/health``."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from scripts.bench.attacks.figure import Figure
from scripts.bench.attacks.raw import BINARY, CONTINUED, LAST, PING, frame, stream
from scripts.bench.attacks.watched import flooded

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
    return flooded(folder / "fragments.log", _TOKEN, _FLOODS, _send)


def _send(url: str, flood: bytes) -> None:
    """Send it again and again for ten seconds, over a new socket whenever one is closed."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError), stream(url, _TOKEN) as made:
            made.settimeout(0.5)
            while time.monotonic() < until:
                made.sendall(flood)
