"""The lead of a line: bars of quotes, marks and indents of lists."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.terminal.output.markdown.layout import Run
from split_client.terminal.output.markdown.lines import Start
from split_client.terminal.output.theme import Style

_FRAME = Style("frame")
_BAR = "│ "
_BULLETS = "•◦▪"
# Models indent by less than CommonMark asks for; from here on it is meant.
_NESTED_FROM = 2
_DEEPEST_QUOTE = 6


@dataclass(frozen=True, slots=True)
class _Item:
    """``indent`` as it was written, ``hang``: the column at which its text stands."""

    indent: int
    hang: int


class Lists:
    """The items that are open; at most half of ``width`` columns are used for indents."""

    def __init__(self, width: int) -> None:
        self._most = width // 2
        self._items: list[_Item] = []
        self._quotes = 0

    @property
    def open(self) -> bool:
        """Whether the next line may belong to an item."""
        return bool(self._items)

    def lead(self, start: Start) -> tuple[list[Run], list[Run]]:
        """The beginning of the line, and of the lines that continue it when it is wrapped."""
        if start.quotes != self._quotes:
            self._items, self._quotes = [], start.quotes
        bars: list[Run] = [(_BAR * min(start.quotes, _DEEPEST_QUOTE), _FRAME)]
        if start.kind == "blank":
            return bars, bars
        if not start.items:
            self._close(start.indent)
            indent = self._items[-1].hang if self._items else min(start.indent, self._most)
            return [*bars, *_space(indent)], [*bars, *_space(indent)]
        marks = [self._open(indent, marker) for indent, marker in start.items]
        begin = marks[0][0]
        shown = "".join(f"{mark} " for _, mark in marks)
        hang = self._items[-1].hang
        return [*bars, *_space(begin), (shown, _FRAME)], [*bars, *_space(hang)]

    def _open(self, indent: int, marker: str) -> tuple[int, str]:
        self._close(indent)
        begin = self._items[-1].hang if self._items else 0
        mark = _BULLETS[len(self._items) % len(_BULLETS)] if marker in "-*+" else marker
        self._items.append(_Item(indent, min(begin + len(mark) + 1, self._most)))
        return begin, mark

    def _close(self, indent: int) -> None:
        while self._items and indent < self._items[-1].indent + _NESTED_FROM:
            self._items.pop()


def _space(columns: int) -> list[Run]:
    return [(" " * columns, Style())] if columns else []
