"""The command ``split-server serve`` as a process that can be killed and started again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.forking.processes import ForkedProcess
from tests.patience import PATIENCE

_COMMAND = [sys.executable, "-c", "import sys; from split_server.cli import main; sys.exit(main())"]


class ServerProcess:
    """Serves ``path`` on ``port`` of this machine; ``options`` are more of the command's."""

    def __init__(self, path: Path, port: int, *options: str) -> None:
        self._path = path
        self._options = options
        self.port = port
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begin to start; nothing is waited for."""
        serve = ["serve", "--model", str(self._path), "--port", str(self.port), *self._options]
        self._process = _started(serve)

    def wait_until_it_listens(self) -> None:
        """Read what it prints, to the line with its address."""
        self.read_greeting()

    def read_greeting(self) -> list[str]:
        """The lines that it prints, to the one with its address."""
        lines: list[str] = []
        assert self._process.stdout is not None
        for line in self._process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith("listening on"):
                return lines
        raise AssertionError(lines)

    def end(self, seconds: float) -> int:
        """End it in order (SIGTERM); its exit status. Raises TimeoutExpired after ``seconds``."""
        self._process.terminate()
        # Also closes the pipe, so that it may be started again.
        self._process.communicate(timeout=seconds)
        return self._process.returncode

    def kill(self) -> None:
        """End it without a word to anybody (SIGKILL)."""
        self._process.kill()
        self._process.communicate(timeout=PATIENCE)


def _started(arguments: list[str]) -> subprocess.Popen[str] | ForkedProcess:
    """Where processes that have imported torch may be forked, seconds sooner."""
    if sys.platform == "linux":
        return ForkedProcess(arguments)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SPLIT")}
    return subprocess.Popen(
        [*_COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environ | {"OMP_NUM_THREADS": "1"},
    )


@contextmanager
def server_process(path: Path, port: int, *options: str) -> Iterator[ServerProcess]:
    """A server that listens; killed at the end."""
    server = ServerProcess(path, port, *options)
    try:
        server.wait_until_it_listens()
        yield server
    finally:
        server.kill()
