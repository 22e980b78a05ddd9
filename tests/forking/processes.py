"""Processes of ``split-server`` that are forked from one that has imported torch already.

What a start imports, and when, is tested with processes of their own.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_REPOSITORY = Path(__file__).parents[2]


class ForkedProcess:
    """``split-server`` with ``arguments``, as far as ``subprocess.Popen`` is needed for it."""

    def __init__(self, arguments: Sequence[str]) -> None:
        reading, output = os.pipe()
        self._told, status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.stdout = os.fdopen(reading)
        self.returncode: int | None = None
        try:
            message = json.dumps([*arguments]).encode()
            socket.send_fds(_parent(), [message], [output, status.fileno()])
        finally:
            os.close(output)
            status.close()
        self._pid = self._number()

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for its end, read what is left and close the pipes. Raises TimeoutExpired."""
        if self.returncode is not None:
            return "", None
        self._told.settimeout(timeout)
        try:
            self.returncode = self._number()
        except TimeoutError as error:
            raise subprocess.TimeoutExpired("split-server", timeout or 0.0) from error
        with self.stdout, self._told:
            return self.stdout.read(), None

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self._pid, number)

    def _number(self) -> int:
        return int(self._told.recv(32))


@cache
def _parent() -> socket.socket:
    """Where to ask for a fork; the process that forks ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SPLIT")}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.forking.parent", str(theirs.fileno())],
        cwd=_REPOSITORY,
        env=environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
    )
    theirs.close()

    def ended() -> None:
        ours.close()
        process.wait()

    atexit.register(ended)
    return ours
