"""Files that are whole or as they were, and durable before anybody relies on them."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data``, readable by its owner only; on disk when this returns.

    Raises OSError.
    """
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.absolute().parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    sync_folder(path.absolute().parent)


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
