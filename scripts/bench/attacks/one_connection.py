"""One connection full of what costs more than its bytes, beside somebody's ``/health``."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from scripts.bench.attacks.figure import Figure
from scripts.bench.attacks.raw import connected
from scripts.bench.attacks.watched import flooded

_TOKEN = "a-token-of-enough-length"  # noqa: S105 - of a server that lives for seconds
_SECONDS = 10.0
_HOST = b" HTTP/1.1\r\nHost: localhost\r\n"
_KNOWN = b"Authorization: Bearer " + _TOKEN.encode() + b"\r\n"
_NAMES = b"{" + b",".join(b'"%x":1' % index for index in range(400_000)) + b"}"
_FLOODS = {
    "pipelined requests": 9000 * (b"GET /health" + _HOST + b"\r\n"),
    "pipelined requests without a host": 15_000 * b"GET / HTTP/1.1\r\n\r\n",
    "12,000 headers": b"GET /" + _HOST + 12_000 * b"a:\r\n" + b"\r\n",
    "chunks of one byte": b"POST /v1/completions"
    + _HOST
    + _KNOWN
    + b"Transfer-Encoding: chunked\r\n\r\n"
    + 60_000 * b"1\r\na\r\n",
    "400,000 fields": b"POST /v1/completions"
    + _HOST
    + _KNOWN
    + b"Content-Length: %d\r\n\r\n" % len(_NAMES)
    + _NAMES,
}


def attack(folder: Path) -> list[Figure]:
    """``/health`` under each flood, one connection at a time."""
    return flooded(folder / "one_connection.log", _TOKEN, _FLOODS, _send)


def _send(url: str, flood: bytes) -> None:
    """Send it again and again, over a new connection whenever one is closed or full."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError), connected(url) as made:
            made.settimeout(0.5)
            while time.monotonic() < until:
                made.sendall(flood)
                made.recv(1 << 16)
