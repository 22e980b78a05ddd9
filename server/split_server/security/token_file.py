"""Tokens of a file, which may be changed while the server runs."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from split_files import open_regular
from split_server.security.tokens import BadTokens, TokenBook, read_tokens

# Looks in a row that find no valid tokens.
_FATAL = 2
_log = logging.getLogger(__name__)


class TokenFile(TokenBook):
    """The tokens that the file at ``path`` held when it was last looked at.

    Those of a pipe stay as they were at the start. Raises BadTokens.
    """

    def __init__(self, path: Path) -> None:
        super().__init__({})
        self._path = path
        self._seen = _version(path)
        self._failures = 0
        self.take(read_tokens(path))

    @property
    def readable(self) -> bool:
        """False while the file holds no valid tokens."""
        return self._failures < _FATAL

    def refresh(self) -> None:
        """Read the file again when it was changed; it blocks on that file.

        One that holds no valid tokens at two looks in a row lets nobody in until it is mended. One
        look is not enough: whoever writes the file may be in the middle of it.
        """
        version = _version(self._path)
        if version == self._seen and self._failures != 1:
            return
        self._seen = version
        try:
            # The event loop waits for no pipe.
            self.take(read_tokens(self._path, waiting=False))
        except BadTokens as error:
            self._failed(error)
        else:
            self._failures = 0
            _log.info("the tokens file was read again")

    def _failed(self, error: BadTokens) -> None:
        self._failures += 1
        if self._failures == _FATAL:
            self.take(TokenBook({}))
            _log.error("the tokens file lets nobody in: %s", error)


def _version(path: Path) -> tuple[int, int, int, int] | None:
    """Changes with every write; None where there is no file that could be read again."""
    try:
        # Opened, since the client of a network may remember for long what it looked at.
        with open_regular(path) as file:
            found = os.fstat(file.fileno())
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
