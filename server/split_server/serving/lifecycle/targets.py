"""A file that names this server for Prometheus' service discovery, while the server runs.

https://prometheus.io/docs/prometheus/latest/configuration/configuration/#file_sd_config
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from split_server.errors import ServerError

# It is no secret, and Prometheus is another user.
_FILE_MODE, _FOLDER_MODE = 0o644, 0o755
_UNNAMED = re.compile(r"[^0-9A-Za-z.]+")


class TargetsUnusable(ServerError):
    """The folder of ``--ops-targets`` cannot be written."""

    code = "targets_unusable"

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(f"{folder}: {reason}; name another folder with --ops-targets")


@contextmanager
def listed(folder: Path | None, target: str) -> Iterator[None]:
    """``target`` (host:port) is named in a file of ``folder`` until the end of the ``with``; None:
    nowhere.

    Its name follows from the target, so that a server that was killed and starts again replaces
    its own. Raises TargetsUnusable.
    """
    if folder is None:
        yield
        return
    try:
        folder = folder.expanduser()
        folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        path = folder / f"split-server-{_UNNAMED.sub('-', target).strip('-')}.json"
        written = _replace(path, json.dumps([{"targets": [target]}]) + "\n")
    except RuntimeError as error:
        raise TargetsUnusable(folder, "nobody has such a home folder") from error
    except OSError as error:
        raise TargetsUnusable(folder, error.strerror or "cannot be written") from error
    try:
        yield
    finally:
        with suppress(OSError):
            # Whoever has the address next may have named it already.
            if path.stat().st_ino == written:
                path.unlink()


def _replace(path: Path, text: str) -> int:
    """Write ``text`` whole or not at all, under a name that is no target's; the file's inode."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(temporary, flags, _FILE_MODE), "w") as file:
            os.fchmod(file.fileno(), _FILE_MODE)
            file.write(text)
            written = os.fstat(file.fileno()).st_ino
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
    return written
