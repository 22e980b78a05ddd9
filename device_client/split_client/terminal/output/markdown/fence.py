"""Fenced code (CommonMark 0.31, section 4.5): its lines come out as they are, to be copied."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from split_client.terminal.output.markdown.lines import LONGEST_START, Start, quotes_of

Place: TypeAlias = Literal["undecided", "code", "end", "outside"]


class Fence:
    """An open block; a line of ``mark``'s characters, at least as many, ends it."""

    def __init__(self, start: Start) -> None:
        self._quotes, self._indent = start.quotes, start.indent
        mark = re.escape(start.mark[0])
        self._closing = re.compile(rf" *{mark}{{{len(start.mark)},}} *")
        self._may_close = re.compile(rf" *{mark}* *")

    def line(self, lead: str, ended: bool) -> Place:
        """The place of the line that begins with ``lead``; ``ended``: it is the whole line."""
        quotes, text = quotes_of(lead, self._quotes)
        if quotes < self._quotes:
            marks_only = not lead.strip(" >")
            return "undecided" if marks_only and not ended else "outside"
        if ended:
            return "end" if self._closing.fullmatch(text) else "code"
        if lead.endswith(">") and quotes and not text:
            return "undecided"
        undecided = self._may_close.fullmatch(text) and len(text) < LONGEST_START
        return "undecided" if undecided else "code"

    def code(self, lead: str) -> str:
        """The beginning of a line without the quotes and the indent of the fence."""
        text = quotes_of(lead, self._quotes)[1]
        spaces = len(text) - len(text.lstrip(" "))
        return text[min(spaces, self._indent) :]
