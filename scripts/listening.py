"""Commands of ``split-server`` that listen, each a real process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_COMMAND = str(Path(sys.executable).parent / "split-server")


@contextmanager
def listening(
    command: str,
    *arguments: str,
    errors: int | None = subprocess.STDOUT,
    program: str | None = None,
) -> Iterator[tuple[str, int]]:
    """``split-server`` with ``command`` on a free port: its URL and process id.

    ``errors``: as ``stderr`` of Popen; ``program``: another checkout's ``split-server``. Raises
    RuntimeError when it ends before it listens.
    """
    process = subprocess.Popen(
        [program or _COMMAND, command, "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.match(r"listening on (\S+)", line):
                # A pipe that nobody reads fills, and then whoever writes to it waits.
                threading.Thread(target=_read_on, args=(process.stdout,), daemon=True).start()
                yield found[1], process.pid
                return
        raise RuntimeError(f"split-server {command} ended before it listened")
    finally:
        process.terminate()
        process.wait(timeout=60)


def _read_on(lines: IO[str]) -> None:
    for _ in lines:
        continue
