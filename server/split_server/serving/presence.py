"""Presence: what each running server leaves for ``split-server status`` of the same user.

A folder of this user alone (0700) with two files of a server: a lock, which the system releases
however the process ends, and a document that it writes every few seconds. Nothing listens for this,
so nothing is opened to anybody; who may read the files may read the server's memory as well.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from split_client.owner_file import data_folder, make_folder
from split_files import DocumentInvalid, is_version, parse_document, read_regular, take_lock
from split_server.serving.upkeep import Upkeep, every

SECONDS = 5.0
VERSION = 1
_MAX_BYTES = 1 << 16
_MOST_SERVERS = 256
_LOCK, _DOCUMENT = ".lock", ".json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class About:
    """What a server says of itself: nothing in it belongs to a principal.

    ``sessions``: how many there are; ``memory``: the report of :mod:`split_server.memory.report`;
    ``models``: of several each one's state.
    """

    kind: str
    urls: Sequence[str]
    serves: str
    most_sessions: int
    sessions: Callable[[], int]
    memory: Callable[[], dict[str, Any]] | None = None
    models: Callable[[], dict[str, str]] | None = None


def presence_folder() -> Path:
    """``running`` in the folder for data of this user."""
    return data_folder() / "running"


class Presence:
    """From :meth:`begin` to :meth:`end` the server is found; a folder that fails is logged."""

    def __init__(self, folder: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._path = (folder or presence_folder()) / name
        self._clock = clock
        self._started = clock()
        self._about: About | None = None
        self._lock: BinaryIO | None = None

    def begin(self, about: About) -> None:
        """The server listens now."""
        try:
            make_folder(self._path.parent)
            # What killed servers left does not pile up where nobody asks for the status.
            running_servers(self._path.parent)
            self._lock = take_lock(self._file(_LOCK))
            self._about = about
            self._write(about)
        except OSError as error:
            self._give_up(error)

    def end(self) -> None:
        """The server does not listen any more; safe to call twice."""
        self._about = None
        if self._lock is not None:
            for ending in (_DOCUMENT, _LOCK):
                with suppress(OSError):
                    self._file(ending).unlink()
            self._lock.close()
        self._lock = None

    def upkeep(self) -> Upkeep:
        """Has the document say what is so at the time."""

        async def tell() -> None:
            if self._about is None:
                return
            try:
                self._write(self._about)
            except OSError as error:
                self._give_up(error)

        return every(SECONDS, tell)

    def _write(self, about: About) -> None:
        document = {
            "version": VERSION,
            "kind": about.kind,
            "pid": os.getpid(),
            "urls": list(about.urls),
            "serves": about.serves,
            "started": int(self._started),
            "updated": int(self._clock()),
            "sessions": about.sessions(),
            "most_sessions": about.most_sessions,
            "memory": None if about.memory is None else about.memory(),
            "models": None if about.models is None else about.models(),
        }
        # Replaced, so that nobody reads half of it; after a loss of power nobody needs it.
        temporary = self._file(".tmp")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(document, file)
        temporary.replace(self._file(_DOCUMENT))

    def _give_up(self, error: OSError) -> None:
        _log.warning(
            "split-server status will not find this server: %s: %s",
            self._path.parent,
            error.strerror or error,
        )
        self.end()

    def _file(self, ending: str) -> Path:
        return self._path.with_name(self._path.name + ending)


@contextmanager
def present() -> Iterator[Presence]:
    """A presence that ends with the ``with``."""
    presence = Presence()
    try:
        yield presence
    finally:
        presence.end()


def running_servers(folder: Path | None = None) -> list[dict[str, Any]]:
    """The documents of the servers that run, the oldest first; what ended ones left is removed."""
    folder = folder or presence_folder()
    found = []
    for lock in sorted(folder.glob(f"*{_LOCK}"))[:_MOST_SERVERS]:
        if _ended(lock):
            continue
        document = _read(lock.with_suffix(_DOCUMENT))
        if document is not None:
            found.append(document)
    return sorted(found, key=lambda document: (document["started"], document["pid"]))


def _ended(lock: Path) -> bool:
    """Whether nobody holds ``lock``; then its server is gone and its files are removed."""
    try:
        with take_lock(lock, wait=False):
            for path in (lock.with_suffix(_DOCUMENT), lock.with_suffix(".tmp"), lock):
                path.unlink(missing_ok=True)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _read(path: Path) -> dict[str, Any] | None:
    """A whole document, None for one that is missing or not of this version."""
    try:
        document = parse_document(read_regular(path, _MAX_BYTES))
    except (OSError, DocumentInvalid):
        return None
    match document:
        case {
            "version": version,
            "kind": str(),
            "pid": int(),
            "urls": list(),
            "serves": str(),
            "started": int(),
            "updated": int(),
            "sessions": int(),
            "most_sessions": int(),
            "memory": dict() | None,
        } if is_version(version, VERSION):
            return dict(document)
    return None
