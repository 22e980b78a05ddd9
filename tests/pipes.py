"""Named pipes in place of files, with somebody who writes as soon as anybody reads."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def pipe(path: Path, content: bytes) -> Iterator[None]:
    """A pipe at ``path``; whoever opens it reads ``content``, so that a failing test ends."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    writer = threading.Thread(target=_write, args=(path, content), daemon=True)
    writer.start()
    try:
        yield
    finally:
        # A reader lets the writer go that waits for one.
        reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        writer.join(10)
        os.close(reading)


def _write(path: Path, content: bytes) -> None:
    with suppress(BrokenPipeError), path.open("wb", buffering=0) as file:
        file.write(content)
