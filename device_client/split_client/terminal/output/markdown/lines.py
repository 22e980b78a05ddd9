"""Kinds of lines, told by their beginning (CommonMark 0.31, section 4 and 5; tables as in GFM)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["blank", "text", "heading", "fence", "rule", "table"]

# A beginning that is still undecided after so many characters is text.
LONGEST_START = 2000
_MOST_ITEMS = 8
_MOST_QUOTES = 32
_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])(?: +(?=\S)| *$)")
_HEADING = re.compile(r"(#{1,6})(?: +|$)")
_RULE = re.compile(r"([-*_])(?: *\1){2,} *")
_FENCE = re.compile(r"(`{3,})([^`]*)|(~{3,})(.*)")
# Beginnings of which the next character may make something else.
_UNDECIDED = re.compile(
    r"#{1,6} *|`{1,2}|`{3,}[^`]*|~{1,2}|~{3,}.*|([-*_])(?: *\1)* *|\+ *|\d{1,9}(?:[.)] *)?|\|.*"
)


@dataclass(frozen=True, slots=True)
class Start:
    """``indent`` in columns within its quotes; ``items`` are (indent, marker) that begin here.

    ``rest`` is text that belongs to the content; of a fence it is what is written behind it.
    """

    kind: Kind
    quotes: int = 0
    indent: int = 0
    items: tuple[tuple[int, str], ...] = ()
    mark: str = ""
    rest: str = ""


@dataclass(slots=True)
class _Scan:
    text: str
    quotes: int = 0
    indent: int = 0
    items: list[tuple[int, str]] = field(default_factory=list)

    def found(self, kind: Kind, mark: str = "", rest: str = "") -> Start:
        return Start(kind, self.quotes, self.indent, tuple(self.items), mark, rest)


def start_of(lead: str, ended: bool) -> Start | None:
    """The kind of the line that begins with ``lead``, None while it is undecided.

    ``ended``: it is the whole line.
    """
    ended_or_long = ended or len(lead) > LONGEST_START
    quotes, text = quotes_of(lead)
    scan = _Scan(text.expandtabs(4), quotes)
    if not ended and (not scan.text.strip() or lead.endswith(">")):
        return None
    while True:
        scan.indent += _spaces(scan.text)
        scan.text = scan.text.lstrip(" ")
        if not ended_or_long and _UNDECIDED.fullmatch(scan.text):
            return None
        item = _ITEM.match(scan.text)
        is_rule = ended and _RULE.fullmatch(scan.text)
        if item is None or is_rule or len(scan.items) >= _MOST_ITEMS:
            return _content(scan, ended)
        scan.items.append((scan.indent, item[1]))
        scan.indent += item.end()
        scan.text = scan.text[item.end() :]


def quotes_of(line: str, most: int = _MOST_QUOTES) -> tuple[int, str]:
    """The number of quotes that a line stands in, up to ``most``, and what follows their marks."""
    quotes = 0
    while quotes < most and (found := _QUOTE.match(line)) is not None:
        quotes, line = quotes + 1, line[found.end() :]
    return quotes, line


def _content(scan: _Scan, ended: bool) -> Start:
    text = scan.text
    heading = _HEADING.match(text)
    if heading is not None:
        return scan.found("heading", heading[1], text[heading.end() :])
    if ended and (fence := _FENCE.fullmatch(text)) is not None:
        info = fence[2] if fence[1] else fence[4]
        return scan.found("fence", fence[1] or fence[3], info.strip())
    if ended and _RULE.fullmatch(text):
        return scan.found("rule")
    if ended and text.startswith("|"):
        return scan.found("table", rest=text)
    if not text and not scan.items:
        return scan.found("blank")
    return scan.found("text", rest=text)


def _spaces(text: str) -> int:
    return len(text) - len(text.lstrip(" "))
