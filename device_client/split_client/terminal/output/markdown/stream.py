"""A reply's markdown as it streams in, to what a terminal is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from split_client.terminal.output.markdown.fence import Fence
from split_client.terminal.output.markdown.inline import Inline
from split_client.terminal.output.markdown.layout import Layout, Run, painted
from split_client.terminal.output.markdown.lines import Start, start_of
from split_client.terminal.output.markdown.lists import Lists
from split_client.terminal.output.markdown.table import Table
from split_client.terminal.output.theme import Style, Theme

_LONGEST_RULE = 60
_INDENTED = "    "
_FRAME = Style("frame")


@dataclass(slots=True)
class _Held:
    """A line that is a table's first if the next one says so."""

    start: Start
    table: Table | None = None
    lead: tuple[list[Run], list[Run]] = field(default_factory=lambda: ([], []))


class MarkdownStream:
    """``width`` in columns; ``measure`` tells how many a text takes.

    What :meth:`feed` returns depends on the text so far and not on how it was cut into pieces.
    """

    def __init__(self, width: int, measure: Callable[[str], int], theme: Theme) -> None:
        self._width, self._measure, self._theme = width, measure, theme
        self._layout = Layout(width, measure)
        self._lists = Lists(width)
        self._lead = ""
        self._inline: Inline | None = None
        self._fence: Fence | None = None
        self._held: _Held | None = None
        self._verbatim = False
        self._after_blank = True

    def feed(self, text: str) -> str:
        """The text that can be shown."""
        for character in text:
            self._take(character)
        return painted(self._layout.take(), self._theme)

    def flush(self) -> str:
        """The rest; the text ends here."""
        if self._inline is not None:
            self._inline.finish()
        elif self._lead and not self._verbatim:
            self._begin(ended=True)
            if self._inline is not None:
                self._inline.finish()
        self._end_table()
        self._layout.place()
        if self._fence is not None:
            if self._layout.inside_line:
                self._layout.newline()
            self._rule()
        self._lead, self._inline, self._fence, self._verbatim = "", None, None, False
        return painted(self._layout.take(), self._theme).removesuffix("\n")

    def line_broken(self) -> None:
        """Something else began a new line."""
        self._layout.line_broken()

    def _take(self, character: str) -> None:
        if character != "\n":
            if self._inline is not None:
                self._inline.feed(character)
            elif self._verbatim:
                self._layout.raw(character, Style("block"))
            else:
                self._lead += character
                self._begin(ended=False)
            return
        if self._inline is None and not self._verbatim:
            self._begin(ended=True)
        self._end_line()
        self._lead = ""

    def _end_line(self) -> None:
        if self._inline is not None:
            self._inline.finish()
        if self._inline is not None or self._verbatim:
            self._layout.newline()
        self._inline, self._verbatim = None, False

    def _begin(self, ended: bool) -> None:
        """Look at the beginning of a line; nothing happens while it is undecided."""
        if self._fence is not None:
            self._in_fence(self._fence, ended)
        elif self._is_indented_code():
            self._end_table()
            self._verbatim = True
            self._layout.raw(self._lead, Style("block"))
        elif (start := start_of(self._lead, ended)) is not None:
            self._open(start)

    def _in_fence(self, fence: Fence, ended: bool) -> None:
        found = fence.line(self._lead, ended)
        if found == "undecided":
            return
        if found == "outside":
            self._close_fence()
            self._begin(ended)
        elif found == "end":
            self._close_fence()
        else:
            self._verbatim = True
            self._layout.raw(fence.code(self._lead), Style("block"))

    def _close_fence(self) -> None:
        self._fence, self._after_blank = None, False
        self._rule()
        self._layout.newline()

    def _is_indented_code(self) -> bool:
        return (
            self._lead.startswith(_INDENTED)
            and bool(self._lead.strip())
            and self._after_blank
            and not self._lists.open
        )

    def _open(self, start: Start) -> None:
        if start.kind == "table":
            self._table_line(start)
            return
        self._end_table()
        self._plain(start)

    def _plain(self, start: Start) -> None:
        """Anything but a table's line."""
        if start.kind == "blank":
            self._layout.begin(*self._lists.lead(start))
            self._layout.newline()
            self._after_blank = True
            return
        self._layout.begin(*self._lists.lead(start))
        self._after_blank = False
        if start.kind == "rule":
            self._rule()
            self._layout.newline()
        elif start.kind == "fence":
            self._open_fence(start)
        else:
            self._inline = Inline(self._layout.put, _base(start), self._theme.marks)
            for character in start.rest:
                self._inline.feed(character)

    def _open_fence(self, start: Start) -> None:
        if start.items:
            self._layout.newline()
        self._fence = Fence(start)
        self._rule(start.rest)
        self._layout.newline()

    def _table_line(self, start: Start) -> None:
        held = self._held
        if held is not None and held.table is not None:
            self._lines(held, held.table.add(start.rest))
        elif held is not None and Table.begins(held.start.rest, start.rest):
            held.lead = self._lists.lead(held.start)
            room = self._width - sum(self._measure(text) for text, _ in held.lead[0])
            held.table = Table(room, self._measure, _base(start), self._theme.marks)
            held.table.begin(held.start.rest, start.rest)
        else:
            self._end_table()
            self._held = _Held(start)

    def _end_table(self) -> None:
        held, self._held = self._held, None
        if held is None:
            return
        if held.table is None:
            self._plain(held.start)
            self._end_line()
        else:
            self._lines(held, held.table.finish())
            self._after_blank = False

    def _lines(self, held: _Held, lines: list[list[Run]]) -> None:
        for line in lines:
            for text, style in (*held.lead[0], *line):
                self._layout.raw(text, style)
            self._layout.newline()
            held.lead = (held.lead[1], held.lead[1])

    def _rule(self, label: str = "") -> None:
        width = min(self._width, _LONGEST_RULE)
        named = f"── {label} " if label else ""
        self._layout.raw(named + "─" * max(2, width - self._measure(named)), _FRAME)


def _base(start: Start) -> Style:
    if start.kind == "heading":
        return Style("heading", italic=len(start.mark) > 2)
    return Style("quote" if start.quotes else "model")
