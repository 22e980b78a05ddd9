"""Colours by what a text is: readable on dark and light terminals, and without seeing hues.

Colours are those of the 256 from 16 on, which are the same on every terminal that has them (xterm);
the first 16 are each terminal's own. ``dark`` and ``light`` have a contrast of at least 4.5 (WCAG
2.1, AA) on the usual backgrounds of their kind, ``either`` of 4.5 on black and on white. Roles that
stand side by side differ in weight, slant, underline or luminance, never in hue alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Role: TypeAlias = Literal[
    "model", "you", "note", "error", "code", "block", "heading", "link", "quote", "frame"
]
"""``code`` stands in a line, ``block`` between fences; ``frame`` is drawn, not written."""

NAMES = ("auto", "dark", "light", "mono")
_RESET = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Style:
    """A role and what emphasis adds to it."""

    role: Role = "model"
    bold: bool = False
    italic: bool = False
    struck: bool = False

    def also(self, *, bold: bool = False, italic: bool = False, struck: bool = False) -> Style:
        """The same with more emphasis."""
        return replace(
            self,
            bold=self.bold or bold,
            italic=self.italic or italic,
            struck=self.struck or struck,
        )


@dataclass(frozen=True, slots=True)
class Theme:
    """``sgr`` has the parameters of SGR (ECMA-48) by role.

    ``marks``: code in a line keeps its backticks, because nothing else tells it from other text.
    """

    name: str
    sgr: Mapping[Role, str]
    marks: bool = False

    def paint(self, text: str, style: Style) -> str:
        """``text`` of one line in ``style``, complete in itself; unchanged without a style."""
        emphasis = ((style.bold, "1"), (style.italic, "3"), (style.struck, "9"))
        parts = [self.sgr.get(style.role, ""), *(code for wanted, code in emphasis if wanted)]
        if self.name == "plain" or not text or not any(parts):
            return text
        return f"\x1b[{';'.join(filter(None, parts))}m{text}{_RESET}"


PLAIN = Theme("plain", {}, marks=True)
MONO = Theme(
    "mono",
    {"you": "1", "note": "3", "error": "1", "heading": "1;4", "link": "4", "quote": "3"},
    marks=True,
)
DARK = Theme(
    "dark",
    {
        "you": "1;38;5;117",
        "note": "38;5;247",
        "error": "1;38;5;209",
        "code": "48;5;239;38;5;255",
        "block": "38;5;110",
        "heading": "1;4;38;5;153",
        "link": "4;38;5;153",
        "quote": "3;38;5;250",
        "frame": "38;5;247",
    },
)
LIGHT = Theme(
    "light",
    {
        "you": "1;38;5;25",
        "note": "38;5;241",
        "error": "1;38;5;124",
        "code": "48;5;253;38;5;235",
        "block": "38;5;24",
        "heading": "1;4;38;5;18",
        "link": "4;38;5;25",
        "quote": "3;38;5;239",
        "frame": "38;5;241",
    },
)
EITHER = Theme(
    "either",
    {
        "you": "1;38;5;63",
        "note": "38;5;243",
        "error": "1;38;5;131",
        "code": "48;5;239;38;5;255",
        "block": "38;5;29",
        "heading": "1;4;38;5;63",
        "link": "4;38;5;63",
        "quote": "3;38;5;243",
        "frame": "38;5;243",
    },
)
_NAMED = {"dark": DARK, "light": LIGHT, "mono": MONO}
_DARK_BACKGROUNDS = frozenset(map(str, (0, 1, 2, 3, 4, 5, 6, 8)))


def theme_for(name: str, environ: Mapping[str, str]) -> Theme:
    """The theme called ``name`` (one of NAMES) for a terminal with this environment.

    ``NO_COLOR`` (no-color.org) and terminals without the 256 colours get no colour, ``TERM=dumb``
    no styles at all. ``auto`` looks for the background in ``COLORFGBG`` (rxvt).
    """
    term = environ.get("TERM", "")
    if term == "dumb":
        return PLAIN
    if environ.get("NO_COLOR") or not _has_colours(term, environ):
        return MONO
    return _NAMED.get(name) or _by_background(environ.get("COLORFGBG", ""))


def _has_colours(term: str, environ: Mapping[str, str]) -> bool:
    return "256color" in term or "direct" in term or bool(environ.get("COLORTERM"))


def _by_background(told: str) -> Theme:
    background = told.rpartition(";")[2]
    if not background.isdecimal():
        return EITHER
    return DARK if background in _DARK_BACKGROUNDS else LIGHT
