"""Standard input that is no person: text from a pipe or a file, whole and within bounds."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Callable

from split_client.terminal.errors import InputNotText, InputTooLong

MAX_BYTES = 64 << 20
_PIECE = 1 << 16
# A pipe that says nothing for so long may be one that nobody thought of.
_PATIENCE_SECONDS = 2.0


def joined(prompt: str, piped: str) -> str:
    """``prompt``, an empty line, and what came through a pipe."""
    return f"{prompt}\n\n{piped}" if piped else prompt


def is_piped() -> bool:
    """Whether standard input is a pipe, a socket or a regular file: something that ends.

    A terminal is a person; /dev/null and a closed descriptor are nothing.
    """
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def read_piped(waiting: Callable[[], None] = lambda: None) -> str:
    """All of standard input as text; ``waiting`` is called where nothing comes for a while.

    Raises InputTooLong, InputNotText.
    """
    binary = getattr(sys.stdin, "buffer", None)
    if binary is None:
        return sys.stdin.read(MAX_BYTES)
    if not _ready(_PATIENCE_SECONDS):
        waiting()
    data = bytearray()
    while piece := binary.read1(_PIECE):
        data += piece
        if len(data) > MAX_BYTES:
            raise InputTooLong(MAX_BYTES)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputNotText("standard input", error.start) from None


def _ready(seconds: float) -> bool:
    try:
        return bool(select.select([sys.stdin], [], [], seconds)[0])
    except (OSError, ValueError):
        return True
