"""The word of this user that divides what a server without tokens keeps among its users.

With a token the server knows whose sessions are whose, and no word is needed: a person's second
device with the same token finds what the first one left.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path

from split_client.owner_file import data_folder, make_folder, write_whole

FILE = "cache-salt"
_BYTES = 16


def cache_salt(token: str | None, folder: Path | None = None) -> str | None:
    """None where there is a ``token``; else the word in ``folder``, made where there is none.

    Where it cannot be kept, it is another one each time.
    """
    if token is not None:
        return None
    path = (folder or data_folder()) / FILE
    found = _read(path)
    if found is not None:
        return found
    made = secrets.token_hex(_BYTES)
    with suppress(OSError):
        make_folder(path.parent)
        write_whole(path, made.encode())
    # Of two programs that start at once both use what was written last.
    return _read(path) or made


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            # One byte more tells a longer file.
            text = file.read(2 * _BYTES + 1).decode("ascii")
        return text if len(bytes.fromhex(text)) == _BYTES else None
    except (OSError, ValueError):
        return None
