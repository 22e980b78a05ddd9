"""Tables: held until their columns are known, then one row after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain, zip_longest

from split_client.terminal.output.markdown.inline import code_end, parsed
from split_client.terminal.output.markdown.layout import Layout, Run
from split_client.terminal.output.theme import Style

# The widths of the columns are those of so many rows; later ones are fitted in.
_ROWS_MEASURED = 12
_MOST_COLUMNS = 32
_NARROWEST = 8
_FRAME = Style("frame")
_BETWEEN = " │ "
_DELIMITER = re.compile(r"\|?( *:?-+:? *\|)* *:?-+:? *\|?")
_Line = list[Run]


class Table:
    """Takes lines that begin with a bar; :meth:`add` and :meth:`finish` give lines to show.

    ``width`` is the room in columns. Where it is too narrow for the columns, every row becomes a
    few lines of ``column: value``.
    """

    def __init__(self, width: int, measure: Callable[[str], int], base: Style, marks: bool) -> None:
        self._width, self._measure = width, measure
        self._base, self._marks = base, marks
        self._header: list[_Line] = []
        self._held: list[list[_Line]] = []
        self._aligned: list[str] = []
        self._widths: list[int] | None = None

    @staticmethod
    def begins(header: str, delimiter: str) -> bool:
        """Whether the two lines begin a table."""
        if _DELIMITER.fullmatch(delimiter.strip()) is None:
            return False
        return len(_cells(header)) == len(_cells(delimiter)) <= _MOST_COLUMNS

    def begin(self, header: str, delimiter: str) -> None:
        """The two lines that every table begins with."""
        self._header = self._read(header, self._base.also(bold=True))
        self._aligned = [_alignment(cell) for cell in _cells(delimiter)]

    def add(self, line: str) -> list[_Line]:
        """One row."""
        row = self._read(line, self._base)
        if self._widths is not None:
            return self._shown(row)
        self._held.append(row)
        return self._begun() if len(self._held) == _ROWS_MEASURED else []

    def finish(self) -> list[_Line]:
        """The table ends here."""
        return self._begun() if self._widths is None else []

    def _read(self, line: str, style: Style) -> list[_Line]:
        cells = _cells(line)
        room = len(self._header) or len(cells)
        cells[room - 1 :] = [" | ".join(cells[room - 1 :])]
        cells += [""] * (room - len(cells))
        return [list(parsed(cell, style, self._marks)) for cell in cells]

    def _begun(self) -> list[_Line]:
        rows = [self._header, *self._held]
        natural = [max(map(self._wide, column)) for column in zip(*rows, strict=True)]
        self._widths = fitted(natural, self._width - len(_BETWEEN) * (len(natural) - 1))
        lines = self._header_lines() if self._widths else []
        return lines + list(chain.from_iterable(map(self._shown, self._held)))

    def _header_lines(self) -> list[_Line]:
        rule = "─┼─".join("─" * width for width in self._widths or ())
        return [*self._shown(self._header), [(rule, _FRAME)]]

    def _shown(self, row: list[_Line]) -> list[_Line]:
        if not self._widths:
            return self._record(row)
        cells = [self._wrapped(cell, width) for cell, width in zip(row, self._widths, strict=True)]
        return [self._joined(line) for line in zip_longest(*cells, fillvalue=[])]

    def _joined(self, line: Iterable[_Line]) -> _Line:
        runs: _Line = []
        for index, (cell, width) in enumerate(zip(line, self._widths or (), strict=True)):
            spare = max(0, width - self._wide(cell))
            left = {"right": spare, "center": spare // 2}.get(self._aligned[index], 0)
            if index:
                runs.append((_BETWEEN, _FRAME))
            runs += [(" " * left, self._base), *cell]
            if index + 1 < len(self._aligned):
                runs.append((" " * (spare - left), self._base))
        return runs

    def _record(self, row: list[_Line]) -> list[_Line]:
        lines: list[_Line] = []
        for name, cell in zip(self._header, row, strict=True):
            lines += self._wrapped([*name, (": ", self._base), *cell], self._width)
        return [*lines, []]

    def _wrapped(self, cell: _Line, width: int) -> list[_Line]:
        layout = Layout(width, self._measure)
        for text, style in cell:
            layout.put(text, style)
        layout.place()
        lines: list[_Line] = [[]]
        for run in layout.take():
            if run[0] == "\n":
                lines.append([])
            else:
                lines[-1].append(run)
        return lines

    def _wide(self, cell: _Line) -> int:
        return sum(self._measure(text) for text, _ in cell)


def fitted(natural: list[int], room: int) -> list[int]:
    """Widths of at most ``room`` in all: narrow columns keep theirs; [] where none are readable."""
    if sum(natural) <= room:
        return [max(1, width) for width in natural]
    widths, left = [0] * len(natural), room
    order = sorted(range(len(natural)), key=natural.__getitem__)
    for place, index in enumerate(order):
        fair = left // (len(order) - place)
        widths[index] = max(1, min(natural[index], fair))
        left -= widths[index]
    too_narrow = any(
        width < min(wanted, _NARROWEST) for width, wanted in zip(widths, natural, strict=True)
    )
    return [] if too_narrow else widths


def _cells(line: str) -> list[str]:
    """The texts between the bars; not those that are escaped or in code."""
    text = line.strip().removeprefix("|")
    cells, at, start = list[str](), 0, 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "`":
            at = _behind_code(text, at) - 1
        elif text[at] == "|":
            cells.append(text[start:at].strip())
            start = at + 1
        at += 1
    last = text[start:].strip()
    return [*cells, last] if last or not cells else cells


def _behind_code(text: str, at: int) -> int:
    run = len(text[at:]) - len(text[at:].lstrip("`"))
    end = code_end(text, run, ended=True, start=at)
    return at + run if end is None else end + run


def _alignment(cell: str) -> str:
    if cell.endswith(":"):
        return "center" if cell.startswith(":") else "right"
    return "left"
