"""One server after another on the same port, each killed without a word, and what each was like."""

from __future__ import annotations

import os
import re
import socket
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scripts.bench.logged_server import LoggedServer, end_in_order, start_server
from scripts.bench.process_memory import MB, MemoryWatch, Sample, slope

_MINUTE = 60.0
_ERRORS = re.compile(r"^split_errors_total\{(.*)\} (\S+)$", re.MULTILINE)


@dataclass(slots=True)
class Life:
    """From ``down``, when its predecessor was killed, over ``up``, when it listened, to ``ended``,
    by the monotonic clock. ``told``: errors by code that it told its clients.
    """

    title: str
    down: float
    up: float = 0.0
    ended: float = 0.0
    samples: list[Sample] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def growth(self, settled: float, *, beside_caches: bool = False) -> float | None:
        """MB per minute of private memory from ``settled`` seconds on, in all or ``beside_caches``;
        None: less than a minute of it.
        """
        late = [sample for sample in self.samples if sample.seconds >= settled]
        if not late or late[-1].seconds < settled + _MINUTE:
            return None
        minutes = [sample.seconds / _MINUTE for sample in late]
        sizes = [one.private - beside_caches * one.caches for one in late]
        return slope(minutes, [size / MB for size in sizes])


class Servers:
    """Servers on one free port; ``flags`` are those of every life."""

    def __init__(self, folder: Path, flags: Sequence[str], period: float) -> None:
        self._folder, self._period, self._flags = folder, period, list(flags)
        self._port = _free_port()
        self._server: LoggedServer | None = None
        self._watch: MemoryWatch | None = None
        self.lives: list[Life] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def now(self) -> LoggedServer:
        """The server that runs."""
        assert self._server is not None
        return self._server

    def start(
        self, title: str, flags: Sequence[str] = (), environ: Mapping[str, str] | None = None
    ) -> None:
        """Begin a life and wait until it listens."""
        life = Life(title, time.monotonic())
        self.lives.append(life)
        self._server = start_server(
            self._folder / f"server-{len(self.lives)}.log",
            *self._flags,
            *flags,
            port=self._port,
            environ={**os.environ, **(environ or {})},
        )
        life.up = time.monotonic()
        self._watch = MemoryWatch(self._server.process.pid, self._server.cache_bytes, self._period)

    def kill(self) -> None:
        """End the life with SIGKILL."""
        self.look_back()
        self.now.process.kill()
        self.now.process.wait()
        self.lives[-1].ended = time.monotonic()

    def end(self) -> None:
        """End the last life in order. Raises RuntimeError for a bad exit status."""
        if self._server is not None and self._server.process.poll() is None:
            self.look_back()
            end_in_order(self._server)

    def give_up(self) -> None:
        """Leave no process behind, whatever happened."""
        if self._server is not None and self._server.process.poll() is None:
            self._server.process.kill()
            self._server.process.wait()

    def look_back(self) -> None:
        """Take down what the life that runs has to say; its memory is watched no more."""
        life = self.lives[-1]
        if self._watch is not None:
            life.samples, self._watch = self._watch.stop(), None
        life.told = self._told()
        life.faults = self.now.faults()

    def _told(self) -> Counter[str]:
        told: Counter[str] = Counter()
        for labels, count in _ERRORS.findall(self.now.get("/metrics").text):
            told[dict(re.findall(r'(\w+)="([^"]*)"', labels))["code"]] += int(float(count))
        return told


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
