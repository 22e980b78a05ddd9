"""Streamed prose wrapped at words, for a person's terminal.

Code keeps its lines: what is indented or between fences (CommonMark) is left to the terminal.
"""

from __future__ import annotations

from collections.abc import Callable

_FENCE = "```"


class Wrapper:
    """``width`` in columns; ``measure`` tells how many a text takes."""

    def __init__(self, width: int, measure: Callable[[str], int]) -> None:
        self._width = width
        self._measure = measure
        self._line = ""
        self._word = ""
        self._column = 0
        self._fenced = False

    def feed(self, text: str) -> str:
        """The text that can be shown; the last word waits until it is known where it fits."""
        return "".join(map(self._take, text))

    def line_broken(self) -> None:
        """Something else began a new line."""
        self._column = 0

    def flush(self) -> str:
        """The word that waits."""
        return self._place()

    def _take(self, character: str) -> str:
        self._line += character
        if character == "\n":
            shown = self._place() + character
            self._fenced ^= self._line.startswith(_FENCE)
            self._line, self._column = "", 0
            return shown
        if character == " " and self._is_prose():
            shown = self._place()
            self._word = " "
            return shown
        self._word += character
        if not self._is_prose() or self._measure(self._word) >= self._width:
            return self._place()
        return ""

    def _is_prose(self) -> bool:
        return not self._fenced and not self._line.startswith((" ", "\t", "`"))

    def _place(self) -> str:
        """The waiting word, on a new line if this one has no room for it."""
        word, self._word = self._word, ""
        wide = self._measure(word)
        if self._is_prose() and self._column and self._column + wide > self._width:
            word = "\n" + word.removeprefix(" ")
            self._column = wide - 1
        else:
            self._column += wide
        return word
