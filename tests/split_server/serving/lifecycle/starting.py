"""A ``split-server serve`` that has been started and is not waited for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.patience import PATIENCE

_COMMAND = [sys.executable, "-c", "import sys; from split_server.cli import main; sys.exit(main())"]


def free_port() -> int:
    """A port of this machine that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def starting(*flags: str) -> Iterator[subprocess.Popen[str]]:
    """The process; killed at the end of the ``with``."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SPLIT_")}
    process = subprocess.Popen(
        [*_COMMAND, "serve", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ | {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def status(port: int, path: str = "/ready") -> int:
    """The HTTP status of ``path``, 0 where nothing answers."""
    try:
        url = f"http://127.0.0.1:{port}{path}"
        return httpx.get(url, trust_env=False, timeout=PATIENCE).status_code
    except httpx.HTTPError:
        return 0
