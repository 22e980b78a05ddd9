"""The digest of the weights that an adapter was trained on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from split_server.errors import MalformedCheckpoint

_CHUNK = 1 << 20


def weights_sha256(files: Sequence[Path]) -> str:
    """SHA-256 of the bytes of ``files``, one after the other in the given order, in hexadecimal.

    Of a checkpoint in one file it is that file's. Raises MalformedCheckpoint.
    """
    digest = hashlib.sha256()
    try:
        for path in files:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
    except OSError as error:
        raise MalformedCheckpoint("the weights cannot be read to tell their digest") from error
    return digest.hexdigest()
