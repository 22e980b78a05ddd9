"""The units that a message is left out by: sentences, blocks of code, tables, whole results.

The rules look at ASCII and a few named characters alone, so that any language can follow them to
the letter; ``tests/vectors/context.json`` holds implementations to the same places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from split_client.chat.message import Message, Range

Kind = Literal["sentence", "code", "table", "result"]

_FENCE: Final = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_BLANK: Final = re.compile(r"[ \t\r]*\n?")
_TABLE: Final = re.compile(r"[ \t]*\|")
_HEADING: Final = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
# A line that begins a unit of its own: of a list, a heading, a quote.
_MARK: Final = re.compile(r"[ \t]*(?:[-*+][ \t]|[0-9]{1,9}[.)][ \t]|#{1,6}[ \t]|>)")
# What ends a sentence, with what closes it and the white space that belongs to it. Nothing is given
# back, and no run is looked at twice, so that it takes time linear in any text.
_END: Final = re.compile(
    r"(?<![.!?…])([.!?…]++)[\"'”’»)\]]*+[ \t\r\n]++(?![a-zß-öø-ÿ])"
    r"|([。！？]++)[”’」』）]*+[ \t\r\n]*+"
)
# A full stop behind one of these ends no sentence: initials, abbreviations, numbers of a list.
_NO_END: Final = re.compile(
    r"(?:^|[ \t\r\n(])(?:[A-Za-z]|[a-z]\.[a-z]|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|vs)$"
    r"|(?:^|\n)[ \t]*[0-9]{1,9}$"
)
_WINDOW: Final = 16


@dataclass(frozen=True, slots=True)
class Unit:
    """``start`` to ``stop`` of a message's content, in Unicode code points."""

    start: int
    stop: int
    kind: Kind

    @property
    def range(self) -> Range:
        return self.start, self.stop


def units_of(message: Message) -> tuple[Unit, ...]:
    """The units of its content: one behind the other, together all of it."""
    content = message.content
    if not content:
        return ()
    if message.role == "tool":
        return (Unit(0, len(content), "result"),)
    return tuple(_units(content))


def _units(content: str) -> Iterator[Unit]:
    for start, stop, kind in _blocks(content):
        ends = _ends(content[start:stop]) if kind == "sentence" else ()
        begun = start
        for end in (*(start + end for end in ends), stop):
            if end > begun:
                yield Unit(begun, end, kind)
                begun = end


def _blocks(content: str) -> Iterator[tuple[int, int, Kind]]:
    """Runs of lines of one kind; blank lines go with what stands before them."""
    start, at, fence = 0, 0, ""
    kind: Kind | None = None
    for line in _lines(content):
        wanted: Kind | None = None
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif opened := _FENCE.match(line):
            wanted, fence = "code", opened[1]
        elif not _BLANK.fullmatch(line):
            wanted = "table" if _TABLE.match(line) else "sentence"
        if wanted is not None and (wanted == "code" or wanted != kind):
            if kind is not None:
                yield start, at, kind
                start = at
            kind = wanted
        at += len(line)
    if at > start:
        yield start, at, kind or "sentence"


def _closes(line: str, fence: str) -> bool:
    found = _FENCE.match(line)
    if found is None or found[1][0] != fence[0] or len(found[1]) < len(fence):
        return False
    return _BLANK.fullmatch(line, found.end()) is not None


def _ends(text: str) -> list[int]:
    """Where the sentences and the lines of a list end in ``text``, in order."""
    ends = {match.end() for match in _END.finditer(text) if not _goes_on(text, match)}
    at, before = 0, ""
    for line in _lines(text):
        if at and not _BLANK.fullmatch(line):
            apart = _BLANK.fullmatch(before) or _HEADING.match(before) or _MARK.match(line)
            ends |= {at} if apart else set()
        at, before = at + len(line), line
    return sorted(ends)


def _goes_on(text: str, match: re.Match[str]) -> bool:
    if match[1] != ".":
        return False
    at = match.start()
    window = text[max(0, at - _WINDOW) : at]
    # The beginning of a window is no beginning of the text.
    return _NO_END.search(f"x{window}" if at > _WINDOW else window) is not None


def _lines(content: str) -> Iterator[str]:
    """With their line feeds."""
    at = 0
    while at < len(content):
        end = content.find("\n", at) + 1 or len(content)
        yield content[at:end]
        at = end
