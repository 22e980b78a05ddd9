"""Markdown cut into pieces, and what stands on the screen."""

from __future__ import annotations

import re

from split_client.terminal.output.markdown.stream import MarkdownStream
from split_client.terminal.output.theme import DARK, Theme
from split_client.terminal.output.width import measure

SGR = re.compile(r"\x1b\[([0-9;]*)m")


def streamed(text: str, width: int = 39, size: int = 3, theme: Theme = DARK) -> str:
    """What a terminal is sent for ``text`` in pieces of ``size``."""
    stream = MarkdownStream(width, measure, theme)
    pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join(pieces) + stream.flush()


def plain(shown: str) -> str:
    """The text without its styles."""
    return SGR.sub("", shown)


def shown(text: str, width: int = 39) -> list[str]:
    """Lines on the screen, without styles."""
    return plain(streamed(text, width)).split("\n")


def cells(sent: str) -> list[tuple[str, str]]:
    """Every character with the style that it has."""
    found, style = [], ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", sent):
        sgr = SGR.fullmatch(part)
        if sgr is not None:
            style = "" if sgr[1] == "0" else sgr[1]
        else:
            found += [(character, style) for character in part]
    return found


def styled(sent: str, style: str) -> list[str]:
    """The texts that have exactly this style."""
    return re.findall(rf"\x1b\[{re.escape(style)}m(.*?)\x1b\[0m", sent)
