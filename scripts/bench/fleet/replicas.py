"""Replicas of one model on this machine: started, killed, frozen, and started again."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx

from scripts.deploying.shipped import Ports

TOKEN = "a-token-of-the-fleet-benchmark"  # noqa: S105 (of replicas that live for minutes)
_COMMAND = Path(sys.executable).parent / "split-server"
_START_SECONDS = 300.0
_END_SECONDS = 60.0
_PAUSE = 0.05


class Replica:
    """One of them. Its ports stay the same through all its lives; ``log`` has their output."""

    def __init__(self, name: str, folder: Path, flags: Sequence[str]) -> None:
        self.name, self.log = name, folder / f"{name}.log"
        self.ports = Ports(free_port(), free_port())
        self._flags = flags
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its own address, past every balancer."""
        return f"http://127.0.0.1:{self.ports.port}"

    def start(self) -> None:
        """Begin a life; :meth:`wait` for it."""
        ops = f"127.0.0.1:{self.ports.ops}"
        own = ("--replica", self.name, "--port", str(self.ports.port), "--ops-listen", ops)
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                [str(_COMMAND), "serve", *own, "--balancer", "127.0.0.1", *self._flags],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | {"SPLIT_SERVER_TOKEN": TOKEN},
            )

    def wait(self) -> None:
        """Until it is ready. Raises RuntimeError when it ends instead."""
        deadline = time.monotonic() + _START_SECONDS
        while self.ready() != httpx.codes.OK:
            if self._running.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"replica {self.name} did not start; see {self.log}")
            time.sleep(_PAUSE)

    def ready(self) -> int:
        """The status of its ``/ready``, 0 where nobody answers."""
        try:
            return self._ops("/ready").status_code
        except httpx.HTTPError:
            return 0

    def gauge(self, name: str) -> float:
        """A figure without labels among its metrics. Raises httpx.HTTPError."""
        found = re.search(rf"^{name} (\S+)$", self._ops("/metrics").text, re.MULTILINE)
        assert found is not None, name
        return float(found[1])

    def kill(self) -> None:
        """End this life without a word."""
        self._running.kill()
        self._running.wait()

    def signal(self, number: signal.Signals) -> None:
        """As kill(1)."""
        self._running.send_signal(number)

    def end(self) -> int:
        """End this life in order; its exit status."""
        self._running.terminate()
        return self._running.wait(_END_SECONDS)

    def give_up(self) -> None:
        """Leave no process behind, whatever happened."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self.kill()

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def _ops(self, path: str) -> httpx.Response:
        url = f"http://127.0.0.1:{self.ports.ops}{path}"
        return httpx.get(url, trust_env=False, timeout=2)


@contextlib.contextmanager
def fleet(count: int, folder: Path, *flags: str) -> Iterator[list[Replica]]:
    """``count`` replicas, all ready. Raises RuntimeError."""
    replicas = [Replica(f"r{number:02}", folder, flags) for number in range(1, count + 1)]
    try:
        # The first one alone: it makes what the others find.
        for first in (replicas[:1], replicas[1:]):
            for one in first:
                one.start()
            for one in first:
                one.wait()
        yield replicas
    finally:
        for one in replicas:
            one.give_up()


def free_port() -> int:
    """One that nobody listens on at present."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
