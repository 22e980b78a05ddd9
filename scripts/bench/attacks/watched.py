"""The server's health as somebody else meets it during an attack."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scripts.bench.attacks.figure import Figure
from scripts.bench.attacks.raw import connected
from scripts.bench.logged_server import logged_server

_ASK = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
HEALTH_BAR_MS = 50.0
_PAUSE_SECONDS = 0.02
_QUIET_SECONDS = 5.0


@dataclass(slots=True)
class Watched:
    """``milliseconds``: how long each request took; ``failures``: those without an answer."""

    milliseconds: list[float] = field(default_factory=list)
    failures: int = 0

    @property
    def p99(self) -> float:
        """Of the times, in milliseconds; infinite where nothing was answered."""
        times = sorted(self.milliseconds)
        return times[min(len(times) - 1, int(0.99 * len(times)))] if times else float("inf")

    def figure(self) -> Figure:
        """The figure with its bar."""
        held = self.p99 <= HEALTH_BAR_MS and not self.failures
        count = f"{self.p99:.1f} ms of {len(self.milliseconds):,}, {self.failures} failed"
        return Figure("/health, p99", count, f"{HEALTH_BAR_MS:g} ms, 0 failed", held)


@contextmanager
def watching(url: str) -> Iterator[Watched]:
    """Ask for the health of the server at ``url`` until the end of the ``with``."""
    watched, stop = Watched(), threading.Event()
    thread = threading.Thread(target=_watch, args=(url, watched, stop))
    thread.start()
    try:
        yield watched
    finally:
        stop.set()
        thread.join()


def quiet(url: str) -> Figure:
    """The figure without an attack: what the machine gives at the time."""
    with watching(url) as watched:
        time.sleep(_QUIET_SECONDS)
    found = watched.figure()
    return Figure(f"before: {found.name}", found.value, "-", held=True)


def _watch(url: str, watched: Watched, stop: threading.Event) -> None:
    """Each request is on a connection of its own, as a stranger's is."""
    while not stop.wait(_PAUSE_SECONDS):
        begun = time.perf_counter()
        try:
            with connected(url) as made:
                made.sendall(_ASK)
                answer = made.recv(4096)
        except OSError:
            answer = b""
        if answer.startswith(b"HTTP/1.1 200"):
            watched.milliseconds.append(1e3 * (time.perf_counter() - begun))
        else:
            watched.failures += 1


def flooded(
    log: Path, token: str, floods: Mapping[str, bytes], send: Callable[[str, bytes], None]
) -> list[Figure]:
    """``/health`` of a server with ``token`` under each flood, which ``send`` sends it."""
    with logged_server(log, "--token", token) as server:
        figures = [quiet(server.url)]
        for name, flood in floods.items():
            with watching(server.url) as watched:
                send(server.url, flood)
            found = watched.figure()
            figures.append(Figure(f"{name}: {found.name}", found.value, found.bar, found.held))
        faults = len(server.faults())
    return [*figures, Figure("errors in the log", str(faults), "0", not faults)]
