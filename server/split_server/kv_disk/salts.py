"""Salts of principals in a file of the state folder: a salt that is deleted there erases.

Several servers may share the file: it is changed under a lock, and read again before that.
"""

from __future__ import annotations

import binascii
import json
import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from split_client.owner_file import reason, write_whole
from split_files import DocumentInvalid, is_version, parse_document, read_regular, take_lock
from split_server.kv_disk.errors import DiskUnusable
from split_server.kv_disk.keys import FolderKey, OwnerKeys

_SALT_BYTES = 32
_VERSION = 1
_MAX_BYTES = 1 << 24
# Of principals: tokens and paired devices of one server.
_MOST = 20_000
_log = logging.getLogger(__name__)


class SaltFile:
    """``path``: of the file; ``key``: of the folder. Usable from any thread.

    A principal's first use writes the file, which takes milliseconds once in his life: see
    :meth:`draw`. Where that fails his salt lives in memory alone, and nothing of his may be
    written until it is drawn again.
    """

    def __init__(self, path: Path, key: FolderKey) -> None:
        self._path, self._key = path, key
        self._lock = threading.Lock()
        self._owners: dict[str, OwnerKeys] = {}
        self._by_tag: dict[bytes, str] = {}
        self._unsaved: set[str] = set()
        # Principals whose salts the file may still have, by the tags that those gave; and tags
        # whose files there may be.
        self._erasing: dict[str, bytes] = {}
        self._erased: set[bytes] = set()
        # Whether the file was there once.
        self._there = False
        self.reload()

    def of(self, principal: str) -> bytes:
        """The secret of block names, drawn where there is none, which blocks on the file."""
        known = self._owners.get(principal)
        return (known or self.draw(principal)).names

    def stored(self, principal: str) -> bool:
        """Whether the principal's salt is known and in the file."""
        return principal in self._owners and principal not in self._unsaved

    def known(self, principal: str) -> bool:
        """Whether the principal has a salt, in the file or in memory alone."""
        return principal in self._owners

    def assume(self, principal: str) -> None:
        """Have a salt for the principal in memory until the file gives one."""
        with self._lock:
            if principal not in self._owners:
                self._unsaved.add(principal)
                self._know(principal, secrets.token_bytes(_SALT_BYTES))

    def keys_of(self, principal: str) -> OwnerKeys | None:
        """The keys for the principal's files, None where a restart would not find them again."""
        with self._lock:
            return None if principal in self._unsaved else self._owners.get(principal)

    def owner_of(self, tag: bytes) -> tuple[str, OwnerKeys] | None:
        """Whose files have ``tag``."""
        with self._lock:
            principal = self._by_tag.get(tag)
            return None if principal is None else (principal, self._owners[principal])

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Have principals that are ``gone`` draw a new one if they come back; :meth:`erase` makes
        it last.
        """
        with self._lock:
            for principal in [principal for principal in self._owners if gone(principal)]:
                tag = self._owners.pop(principal).tag
                del self._by_tag[tag]
                self._unsaved.discard(principal)
                self._erasing[principal] = tag
                self._erased.add(tag)

    def erased(self) -> set[bytes]:
        """Tags of those who were forgotten since the last call."""
        with self._lock:
            tags, self._erased = self._erased, set()
        return tags

    @property
    def unfinished(self) -> bool:
        """Whether :meth:`erase` has something to do."""
        return bool(self._erasing)

    def erase(self) -> None:
        """Delete the salts of forgotten principals from the file. Raises DiskUnusable, and then
        another call may do it.
        """
        # The event loop must not wait for this disk, so the other lock is not held over the change.
        with self._changing() as salts:
            with self._lock:
                erasing = dict(self._erasing)
            for principal, tag in erasing.items():
                self._remove(salts, principal, tag)
        with self._lock:
            for principal, tag in erasing.items():
                if self._erasing.get(principal) == tag:
                    del self._erasing[principal]

    def reload(self) -> None:
        """Know what other servers have drawn and erased meanwhile. Raises DiskUnusable."""
        stored = self._read()
        with self._lock:
            for principal in self._owners.keys() - self._unsaved:
                salt = stored.get(principal)
                if salt is None or self._key.owner(salt).tag != self._owners[principal].tag:
                    del self._by_tag[self._owners.pop(principal).tag]
            for principal, salt in stored.items():
                if principal not in self._owners and principal not in self._erasing:
                    self._know(principal, salt)

    def draw(self, principal: str) -> OwnerKeys:
        """The keys of the principal as the file gives them, which draws a salt where there is none;
        in memory alone where it cannot. It blocks on the file.
        """
        salt, saved, erasing = secrets.token_bytes(_SALT_BYTES), False, None
        try:
            # The file's lock is taken before the other one, never while that is held.
            with self._changing() as salts:
                with self._lock:
                    erasing = self._erasing.pop(principal, None)
                if erasing is not None:
                    self._remove(salts, principal, erasing)
                if principal in salts or len(salts) < _MOST:
                    salt, saved = salts.setdefault(principal, salt), True
        except DiskUnusable as error:
            saved = False
            _log.warning("keys and values of a principal stay in memory: %s", error)
        with self._lock:
            if not saved:
                self._unsaved.add(principal)
                if erasing is not None:
                    # The file still has it, and gives it to nobody again.
                    self._erasing.setdefault(principal, erasing)
                return self._owners.get(principal) or self._know(principal, salt)
            self._unsaved.discard(principal)
            return self._know(principal, salt)

    def _remove(self, salts: dict[str, bytes], principal: str, tag: bytes) -> None:
        """Not a salt that was drawn since, by another server for the same name."""
        salt = salts.get(principal)
        if salt is not None and self._key.owner(salt).tag == tag:
            del salts[principal]

    def _know(self, principal: str, salt: bytes) -> OwnerKeys:
        owner, before = self._key.owner(salt), self._owners.get(principal)
        if before is not None:
            self._by_tag.pop(before.tag, None)
        self._owners[principal], self._by_tag[owner.tag] = owner, principal
        return owner

    @contextmanager
    def _changing(self) -> Iterator[dict[str, bytes]]:
        """The salts as they are stored, and stored again if they were changed."""
        try:
            with take_lock(self._path.with_suffix(".lock")):
                salts = self._read()
                before = dict(salts)
                yield salts
                if salts != before:
                    write_whole(self._path, _packed(salts))
                    self._there = True
        except OSError as error:
            raise DiskUnusable(self._path, reason(error)) from error

    def _read(self) -> dict[str, bytes]:
        try:
            salts = _parsed(read_regular(self._path, _MAX_BYTES))
        except FileNotFoundError as error:
            # A disk that is not there has nobody's salt, and nobody was erased by that.
            if self._there:
                raise DiskUnusable(self._path, "it is gone; is its disk mounted?") from error
            return {}
        except OSError as error:
            raise DiskUnusable(self._path, reason(error)) from error
        except ValueError as error:
            raise DiskUnusable(self._path, "it is damaged") from error
        self._there = True
        return salts


def _packed(salts: dict[str, bytes]) -> bytes:
    document = {"version": _VERSION, "salts": {name: salt.hex() for name, salt in salts.items()}}
    return json.dumps(document).encode()


def _parsed(data: bytes) -> dict[str, bytes]:
    """Raises ValueError."""
    document = parse_document(data)
    if not isinstance(document, dict) or not is_version(document.get("version"), _VERSION):
        raise DocumentInvalid("it has another version")
    salts = document.get("salts")
    if not isinstance(salts, dict):
        raise DocumentInvalid("it has no salts")
    return {name: _salt(value) for name, value in salts.items()}


def _salt(value: object) -> bytes:
    if not isinstance(value, str):
        raise DocumentInvalid("a salt is no text")
    salt = binascii.unhexlify(value)
    if len(salt) != _SALT_BYTES:
        raise DocumentInvalid("a salt has another length")
    return salt
