"""Worker processes that answer one JSON line per request, so that programs can be timed in turn.

A worker module defines ``def handle(request: dict) -> dict`` and runs :func:`serve`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scripts.paths import ROOT


class Worker:
    """A Python module of ``scripts`` as a child process.

    ``python``: the interpreter of another environment, for a peer that is not installed here;
    ``folder``: where the module is found; ``environ``: variables beside this process's.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        python: str = sys.executable,
        folder: Path = ROOT,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._name = " ".join((module, *arguments))
        self._process = subprocess.Popen(
            [python, "-m", module, *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(environ or {})},
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
            status = self._process.wait(timeout=30)
            raise RuntimeError(f"{self._name} ended with {status}; see its messages above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


class Operations:
    """Answers requests with the method that each names as its ``op``."""

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request."""
        operation = getattr(self, request.pop("op"))
        answer: dict[str, Any] = operation(**request)
        return answer


def serve(handle: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer requests from standard input until it ends."""
    for line in sys.stdin:
        print(json.dumps(handle(json.loads(line))), flush=True)
