"""A real split-server: its output in a file, its own words about its memory, its end in order."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

_BIN = Path(sys.executable).parent
_START_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class LoggedServer:
    """``log``: what it has written; ``token``: what lets the bench in, None: nobody is asked."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path
    token: str | None = None

    def get(self, path: str) -> httpx.Response:
        """The server's answer at ``path``. Raises httpx.HTTPError."""
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        answer = httpx.get(self.url + path, headers=headers, trust_env=False, timeout=30)
        return answer.raise_for_status()

    def memory(self) -> dict[str, Any]:
        """The server's own report of its memory."""
        document: dict[str, Any] = self.get("/api/v1/memory").json()
        return document

    def gauge(self, name: str) -> int:
        """A whole number without labels among its metrics."""
        found = re.search(rf"^{name} (\S+)$", self.get("/metrics").text, re.MULTILINE)
        assert found is not None, name
        return int(float(found[1]))

    def cache_bytes(self) -> int:
        """Bytes of K/V buffers, those that wait for their next user included."""
        caches = self.memory()["caches"]
        return int(caches["reserved"]) + int(caches["idle"])

    def faults(self) -> list[str]:
        """Errors in its log."""
        lines = self.log.read_text().splitlines()
        return [line for line in lines if re.search(r"Traceback| ERROR | CRITICAL ", line)]


def server_folder(stack: contextlib.ExitStack, given: str | None) -> Path:
    """The folder ``given``, or one that goes with ``stack``; servers keep their ends in it."""
    folder = Path(given or stack.enter_context(tempfile.TemporaryDirectory()))
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["SPLIT_CACHE"] = str(folder / "cache")
    return folder


def flags(limits: Mapping[str, object]) -> list[str]:
    """Limits by name as arguments of the server."""
    return [word for name, value in limits.items() for word in (f"--{name}", str(value))]


def start_server(
    log: Path,
    *arguments: str,
    port: int = 0,
    environ: Mapping[str, str] | None = None,
    token: str | None = None,
) -> LoggedServer:
    """``split-server serve`` once it listens; ``environ`` instead of this process's, ``token``: one
    of those that its arguments name.

    Raises RuntimeError when it does not start; ending it is the caller's.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(_BIN / "split-server"), "serve", "--port", str(port), *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environ,
        )
    try:
        return LoggedServer(_address(process, log), process, log, token)
    except BaseException:
        process.kill()
        process.wait()
        raise


def end_in_order(server: LoggedServer) -> None:
    """SIGTERM. Raises RuntimeError for another exit status than 0."""
    server.process.terminate()
    status = server.process.wait(timeout=60)
    if status:
        raise RuntimeError(f"the server ended with status {status}; see {server.log}")


@contextlib.contextmanager
def logged_server(log: Path, *arguments: str, token: str | None = None) -> Iterator[LoggedServer]:
    """``split-server serve`` on a free port. Raises RuntimeError when it does not end in order."""
    server = start_server(log, *arguments, token=token)
    try:
        yield server
    except BaseException:
        server.process.terminate()
        server.process.wait(timeout=60)
        raise
    end_in_order(server)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"^listening on (\S+)", log.read_text(), re.MULTILINE):
            return found[1]
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start; see {log}")
