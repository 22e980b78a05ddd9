"""Files of this user alone: written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import platformdirs


def write_whole(path: Path, data: bytes, *, replace: bool = True) -> None:
    """Write ``data`` to ``path``, readable by its owner only (0600).

    A reader sees the old file or the new one, and so does the disk after a loss of power. Without
    ``replace`` an existing file stays. Raises OSError, FileExistsError among them.
    """
    handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.absolute().parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            temporary.replace(path)
        else:
            move_aside(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    _sync(path.absolute().parent)


def move_aside(source: Path, target: Path) -> None:
    """Rename, but never onto another file. Raises OSError, FileExistsError among them."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: there, a look before the move has to do.
        if target.exists():
            raise FileExistsError(str(target)) from None
        source.rename(target)
    else:
        source.unlink()


def data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """``SPLIT_DATA``, else the platform's folder for data of this user."""
    named = environ.get("SPLIT_DATA")
    if named:
        return Path(named).expanduser()
    return platformdirs.user_data_path("gatelink", appauthor=False)


def make_folder(path: Path) -> None:
    """A folder of this user alone (0700) where there is none. Raises OSError."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def reason(error: OSError) -> str:
    """The reason of the failure, in words of the system."""
    return error.strerror or str(error)


def _sync(folder: Path) -> None:
    """Make the new name last; systems that cannot open a folder do so on their own."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
