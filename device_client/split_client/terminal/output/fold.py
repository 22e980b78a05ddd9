"""Our own lines, broken between words to the width of a person's terminal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import TextIO

from split_client.terminal.output.markdown.layout import Layout
from split_client.terminal.output.theme import Style
from split_client.terminal.output.width import measure

_NARROWEST = 20
_BETWEEN = " · "


def columns(stream: TextIO) -> int:
    """Width of the terminal behind ``stream``; what the environment says where it has none."""
    return _size(stream).columns or shutil.get_terminal_size().columns


def rows(stream: TextIO) -> int:
    """Its height, likewise."""
    return _size(stream).lines or shutil.get_terminal_size().lines


def room(stream: TextIO) -> int:
    """Columns that a line of ours may take; the last one stays free."""
    return max(_NARROWEST, columns(stream) - 1)


def fold(text: str, stream: TextIO, hang: int = 0) -> str:
    """``text`` for ``stream``, unchanged unless that is a terminal.

    ``hang``: columns by which the second and later lines are moved in. A word that is longer than
    a line, such as a path, stays whole, and so do the parts of a text that has dots between them.
    """
    if not stream.isatty():
        return text
    width = room(stream)
    lines = packed(" ".join(text.splitlines()).split(_BETWEEN), width)
    return "\n".join(_folded(line, width, hang) for line in lines)


def packed(parts: Sequence[str], width: int) -> list[str]:
    """``parts`` with dots between them, as many to a line as fit; a part is not divided."""
    lines = [parts[0]]
    for part in parts[1:]:
        if measure(lines[-1]) + len(_BETWEEN) + measure(part) <= width:
            lines[-1] += _BETWEEN + part
        else:
            lines.append(part)
    return lines


def _folded(text: str, width: int, hang: int) -> str:
    layout = Layout(width, measure)
    layout.begin([], [(" " * hang, Style())])
    layout.put(text, Style())
    layout.place()
    return "".join(shown for shown, _ in layout.take())


def cut(text: str, columns_left: int) -> str:
    """The beginning of ``text`` that fits, with an ellipsis where something is left out."""
    if measure(text) <= columns_left:
        return text
    taken = 1
    for at, character in enumerate(text):
        taken += measure(character)
        if taken > columns_left:
            return text[:at].rstrip() + "…"
    return text


def _size(stream: TextIO) -> os.terminal_size:
    try:
        return os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return os.terminal_size((0, 0))
