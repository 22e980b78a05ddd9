"""The key of a folder, and what it gives each principal together with a random salt of his.

Without the key file no file opens and no name is found; without a principal's salt none of his.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from split_client.owner_file import make_folder, reason, write_whole
from split_files import read_regular
from split_server.kv_disk.errors import DiskUnusable

KEY_BYTES = 32
ID_BYTES = 8
TAG_BYTES = 16


@dataclass(frozen=True, slots=True)
class OwnerKeys:
    """``names``: 32 bytes from which block names are derived; ``cipher``: of AES-256-GCM; ``tag``:
    16 bytes that the principal's files have in common, from which nobody gets back.
    """

    names: bytes
    cipher: bytes
    tag: bytes


class FolderKey:
    """``secret``: 32 random bytes."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.id = self._derived(b"", b"id", ID_BYTES)

    def owner(self, salt: bytes) -> OwnerKeys:
        """The keys of the principal that has ``salt``."""
        return OwnerKeys(
            self._derived(salt, b"names", KEY_BYTES),
            self._derived(salt, b"cipher", KEY_BYTES),
            self._derived(salt, b"owner", TAG_BYTES),
        )

    def _derived(self, salt: bytes, use: bytes, size: int) -> bytes:
        # HKDF (RFC 5869).
        info = b"kv disk 1 " + use
        return HKDF(SHA256(), size, salt=salt, info=info).derive(self._secret)


def state_files(folder: Path, state: Path) -> tuple[Path, Path]:
    """Where key and salts of ``folder`` lie in ``state``."""
    mark = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    return state / f"kv-disk-{mark}.key", state / f"kv-disk-{mark}.salts"


def open_key(path: Path) -> FolderKey:
    """The key in the file at ``path``, made for its owner alone where there is none.

    Raises DiskUnusable.
    """
    try:
        make_folder(path.parent)
        try:
            secret = read_regular(path, KEY_BYTES)
        except FileNotFoundError:
            secret = _made(path)
    except OSError as error:
        raise DiskUnusable(path, reason(error)) from error
    if len(secret) != KEY_BYTES:
        raise DiskUnusable(path, "it is not a key; without it nothing on disk can be used")
    return FolderKey(secret)


def _made(path: Path) -> bytes:
    secret = secrets.token_bytes(KEY_BYTES)
    try:
        write_whole(path, secret, replace=False)
    except FileExistsError:
        # Another server was faster.
        return read_regular(path, KEY_BYTES)
    return secret
