"""Styled words put into lines of a width."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeAlias

from split_client.terminal.output.theme import Style, Theme

Run: TypeAlias = tuple[str, Style]
"""Text in one style."""

_JOINER = "\u200d"
_WIDE = 2
# A line does not begin with these, nor end with those (as in UAX 14: CL, EX, IS, NS; OP).
_NOT_FIRST = frozenset(
    ".,:;!?)]}'\"%…、。，．：；！？）］｝」』】〉》〕ー・々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
)
_NOT_LAST = frozenset("([{（［｛「『【〈《〔")


class Layout:
    """``width`` in columns, ``measure`` tells how many a text takes; :meth:`take` gives the runs.

    Words that are wider than a line are left to the terminal, so that an address can be copied.
    """

    def __init__(self, width: int, measure: Callable[[str], int]) -> None:
        self._width, self._measure = max(1, width), measure
        self._out: list[Run] = []
        self._prefix: tuple[list[Run], list[Run]] = ([], [])
        self._word: list[Run] = []
        self._spaces: list[Run] = []
        self._wide = 0
        self._column = 0
        self._prefixed = self._overlong = self._begun = False

    def begin(self, first: list[Run], rest: list[Run]) -> None:
        """A new line follows, led by ``first``, and by ``rest`` where it is continued."""
        self._prefix = (first, rest)
        self._begun = False

    def put(self, text: str, style: Style) -> None:
        """Add text without line breaks; its last word waits until it is known where it fits."""
        for character in text:
            self._add(" " if character == "\t" else character, style)

    def raw(self, text: str, style: Style) -> None:
        """Add text that keeps its lines; the terminal wraps them."""
        self._out.append((text, style))
        self._column += self._measure(text.replace("\t", " "))
        self._prefixed = True

    def newline(self) -> None:
        """End the line."""
        self.place()
        if not self._prefixed and not self._begun:
            self._lead([(text.rstrip(), style) for text, style in self._prefix[0]])
        self._break()
        self._spaces, self._prefix = [], ([], [])

    @property
    def inside_line(self) -> bool:
        """Whether something stands in the line."""
        return self._prefixed

    def line_broken(self) -> None:
        """Something else began a new line."""
        self._begun = self._begun or self._prefixed
        self._column, self._prefixed = 0, False

    def place(self) -> None:
        """Put the word that waits into this line, or into a new one if it has no room."""
        word, spaces, wide = self._word, self._spaces, self._wide
        if not word:
            return
        self._word, self._spaces, self._wide = [], [], 0
        if (
            self._prefixed
            and not self._overlong
            and self._column + len(spaces) + wide > self._width
        ):
            self._break()
            spaces = []
        if not self._prefixed:
            spaces = [] if self._begun else spaces
            self._lead(self._prefix[self._begun])
        self._begun = True
        self._out += (*spaces, *word)
        self._column += len(spaces) + wide

    def take(self) -> list[Run]:
        """The runs that can be shown by now."""
        out, self._out = self._out, []
        return out

    def _add(self, character: str, style: Style) -> None:
        if character == " ":
            self.place()
            self._overlong = False
            self._spaces.append((character, style))
            return
        wide = self._measure(character)
        if self._word and wide and self._may_break(self._word[-1][0], character, wide):
            self.place()
        self._word.append((character, style))
        self._wide += wide
        if self._wide >= self._width:
            self.place()
            self._overlong = True

    def _may_break(self, last: str, character: str, wide: int) -> bool:
        if character in _NOT_FIRST or last in _NOT_LAST or last == _JOINER:
            return False
        return wide == _WIDE or self._measure(last) == _WIDE

    def _lead(self, prefix: list[Run]) -> None:
        self._out += prefix
        self._column += sum(self._measure(text) for text, _ in prefix)
        self._prefixed = True

    def _break(self) -> None:
        self._out.append(("\n", Style()))
        self._column, self._prefixed, self._overlong = 0, False, False


def painted(runs: Iterable[Run], theme: Theme) -> str:
    """Runs as a terminal is sent them: every line ends its own styles."""
    styles = groupby(runs, key=lambda run: run[1] if run[0] != "\n" else None)
    return "".join(
        "".join(text for text, _ in group) if style is None else _one(group, style, theme)
        for style, group in styles
    )


def _one(group: Iterable[Run], style: Style, theme: Theme) -> str:
    return theme.paint("".join(text for text, _ in group), style)
