"""HAProxy and nginx with the configurations that are shipped, in front of replicas."""

from __future__ import annotations

import contextlib
import csv
import io
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from scripts.bench.fleet.replicas import Replica, free_port
from scripts.deploying.shipped import (
    HAPROXY,
    SCALE,
    Ports,
    admin_socket,
    haproxy_config,
    nginx_config,
    nginx_sites,
)

HAPROXY_NAME, NGINX_NAME = "HAProxy", "nginx"
_START_SECONDS = 10.0


class Balancer:
    """A process that listens on ``port`` of 127.0.0.1; ``command`` starts it."""

    def __init__(self, name: str, command: Sequence[str], port: int, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.url = f"http://127.0.0.1:{port}"
        self._command, self._port = command, port
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return once it listens. Raises RuntimeError."""
        with (self.folder / "output").open("ab") as output:
            self._process = subprocess.Popen(self._command, stdout=output, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} did not start; see {self.folder}")
            time.sleep(0.01)

    def _answers(self) -> bool:
        # HAProxy puts its socket for figures in place after its ports.
        asked = self.name != HAPROXY_NAME or admin_socket(self.folder).exists()
        return asked and _listens(self._port)

    def kill(self) -> None:
        """End it without a word, its workers too."""
        if self._process is not None and self._process.poll() is None:
            # nginx's workers go on without their master after SIGKILL.
            quick = signal.SIGTERM if self.name == NGINX_NAME else signal.SIGKILL
            self._process.send_signal(quick)
            self._process.wait()

    def states(self) -> dict[str, str]:
        """What HAProxy thinks of each replica: UP, DOWN, NOLB, ..."""
        return {row["svname"]: row["status"] for row in self._stat("sockets")}

    def _stat(self, backend: str) -> list[dict[str, str]]:
        with socket.socket(socket.AF_UNIX) as admin:
            admin.connect(str(admin_socket(self.folder)))
            admin.sendall(b"show stat\n")
            text = admin.makefile().read()
        rows = csv.DictReader(io.StringIO(text.removeprefix("# ")))
        return [
            row for row in rows if row["pxname"] == backend and row["svname"] not in ("BACKEND",)
        ]


@contextlib.contextmanager
def haproxy(folder: Path, replicas: Sequence[Replica]) -> Iterator[Balancer]:
    """The shipped HAProxy in front of ``replicas``."""
    port = free_port()
    text = haproxy_config(HAPROXY.read_text(), f"127.0.0.1:{port}", _ports(replicas), folder)
    file = folder / "haproxy.cfg"
    file.write_text(text)
    with _running(Balancer(HAPROXY_NAME, ["haproxy", "-q", "-f", str(file)], port, folder)) as made:
        yield made


@contextlib.contextmanager
def nginx(folder: Path, replicas: Sequence[Replica]) -> Iterator[Balancer]:
    """nginx as docs/scale.md shows it."""
    port = free_port()
    (site,) = nginx_sites(SCALE)
    text = nginx_config(site, f"127.0.0.1:{port}", _ports(replicas), folder)
    file = folder / "nginx.conf"
    file.write_text(text)
    command = ["nginx", "-p", str(folder), "-c", str(file)]
    with _running(Balancer(NGINX_NAME, command, port, folder)) as made:
        yield made


BALANCERS: dict[str, Callable[..., contextlib.AbstractContextManager[Balancer]]] = {
    HAPROXY_NAME: haproxy,
    NGINX_NAME: nginx,
}


def installed() -> list[str]:
    """Those that can run here; the others are named."""
    found = [name for name in BALANCERS if shutil.which(name.lower())]
    for name in BALANCERS:
        if name not in found:
            print(f"not run: {name} is not installed")
    return found


@contextlib.contextmanager
def started(name: str, folder: Path, replicas: Sequence[Replica]) -> Iterator[Balancer]:
    """The balancer ``name`` with a folder of its own below ``folder``."""
    own = folder / name.lower()
    own.mkdir(exist_ok=True)
    with BALANCERS[name](own, replicas) as balancer:
        yield balancer


@contextlib.contextmanager
def _running(balancer: Balancer) -> Iterator[Balancer]:
    balancer.start()
    try:
        yield balancer
    finally:
        balancer.kill()


def _ports(replicas: Sequence[Replica]) -> list[Ports]:
    return [one.ports for one in replicas]


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
