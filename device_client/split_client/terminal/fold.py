"""Our own lines, broken between words to the width of a person's terminal."""

from __future__ import annotations

import os
import shutil
import textwrap
from typing import TextIO

_NARROWEST = 20


def columns(stream: TextIO) -> int:
    """Width of the terminal behind ``stream``; what the environment says where it has none."""
    return _size(stream).columns or shutil.get_terminal_size().columns


def rows(stream: TextIO) -> int:
    """Its height, likewise."""
    return _size(stream).lines or shutil.get_terminal_size().lines


def fold(text: str, stream: TextIO, hang: int = 0) -> str:
    """``text`` for ``stream``, unchanged unless that is a terminal.

    ``hang``: columns by which the second and later lines are moved in. A word that is longer than
    a line, such as a path, stays whole.
    """
    if not stream.isatty():
        return text
    return textwrap.fill(
        text,
        max(_NARROWEST, columns(stream) - 1),
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _size(stream: TextIO) -> os.terminal_size:
    try:
        return os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return os.terminal_size((0, 0))
