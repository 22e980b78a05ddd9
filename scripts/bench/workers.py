"""Worker processes that answer one JSON line per request, so that programs can be timed in turn.

A worker module defines ``def handle(request: dict) -> dict`` and runs :func:`serve`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scripts.paths import ROOT

_BIN = Path(sys.executable).parent
_ENVIRONMENT = {**os.environ, "PYTHONUNBUFFERED": "1"}


class Worker:
    """A Python module of ``scripts`` as a child process.

    ``python``: the interpreter of another environment, for a peer that is not installed here.
    """

    def __init__(self, module: str, *arguments: str, python: str = sys.executable) -> None:
        self._process = subprocess.Popen(
            [python, "-m", module, *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_ENVIRONMENT,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send one request and wait for its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the worker ended; see its messages above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


def serve(handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer requests from standard input until it ends."""
    for line in sys.stdin:
        print(json.dumps(handle(json.loads(line))), flush=True)


@contextlib.contextmanager
def split_server(*arguments: str) -> Iterator[tuple[str, int]]:
    """A real ``split-server serve`` on a free port: its URL and process id."""
    with contextlib.ExitStack() as stack:
        process = subprocess.Popen(
            [str(_BIN / "split-server"), "serve", "--port", "0", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=_ENVIRONMENT,
        )
        stack.callback(process.wait)
        stack.callback(process.terminate)
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.match(r"listening on (\S+)", line):
                yield found[1], process.pid
                return
        raise RuntimeError("the server ended before it listened")
