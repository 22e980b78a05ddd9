"""What of Markdown is not text: targets of links and images, definitions of them, raw HTML.

A renderer may fetch those without being asked, or on a click, so that a value there would be sent
to whoever wrote the reply. Reads one character at a time, so that it makes no difference in which
pieces a reply comes, and protects too much rather than too little.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from split_client.redaction.rules import words

_State: TypeAlias = Literal["text", "link", "angle", "gap", "target", "tag", "mark", "raw"]
_SPACE: Final = " \t\n"
_SPECIAL: Final = re.compile("[\\]<]")
_LONGEST_NAME: Final = 16


class Protection:
    """``flags`` tells of each character whether it is protected."""

    def __init__(self) -> None:
        self._state: _State = "text"
        self._last = ""
        self._escaped = False
        self._depth = 0
        self._quote = ""
        self._assigned = False
        self._element = ""
        self._naming = False
        self._raw = ""
        self._closing = ""

    def flags(self, text: str) -> bytes:
        """1 or 0 for each of the next characters of the reply."""
        if self._state == "text" and self._plain(text, 0) == len(text):
            self._last = text[-1:] or self._last
            return bytes(len(text))
        made, at = bytearray(), 0
        while at < len(text):
            if self._state == "text" and (skipped := self._plain(text, at)):
                made += bytes(skipped)
                at += skipped
                self._last = text[at - 1]
            else:
                made.append(self._take(text[at]))
                at += 1
        return bytes(made)

    def _plain(self, text: str, at: int) -> int:
        """How many characters from there on begin nothing."""
        if self._last in ("]", "<"):
            return 0
        found = _SPECIAL.search(text, at)
        return (len(text) if found is None else found.start() + 1) - at

    def _take(self, character: str) -> bool:
        if self._empty_line(character) and self._state != "raw" and not self._quote:
            self._state = "text"
        before = self._state
        getattr(self, f"_in_{self._state}")(character)
        self._last = character
        return before != "text" or self._state != "text"

    def _empty_line(self, character: str) -> bool:
        return character == "\n" and self._last == "\n"

    def _in_text(self, character: str) -> None:
        if self._last == "]" and character == "(":
            self._state, self._depth, self._escaped = "link", 1, False
        elif self._last == "]" and character == ":":
            self._state = "gap"
        elif self._last == "<" and (character.isalpha() or character in "/!?"):
            self._state = "tag" if character.isalpha() or character == "/" else "mark"
            self._quote, self._assigned, self._naming = "", False, True
            self._element = character.lower()

    def _in_link(self, character: str) -> None:
        if self._escaped:
            self._escaped = False
        elif character == "\\":
            self._escaped = True
        elif character == "<" and self._last in (*_SPACE, "("):
            self._state = "angle"
        elif character == "(":
            self._depth += 1
        elif character == ")":
            self._depth -= 1
            if self._depth == 0:
                self._state = "text"

    def _in_angle(self, character: str) -> None:
        if self._escaped:
            self._escaped = False
        elif character == "\\":
            self._escaped = True
        elif character == ">":
            self._state = "link"

    def _in_gap(self, character: str) -> None:
        if character not in _SPACE:
            self._state = "target"
            self._in_target(character)

    def _in_target(self, character: str) -> None:
        if character in _SPACE:
            self._state = "text"

    def _in_tag(self, character: str) -> None:
        if self._quote:
            self._quote = "" if character == self._quote else self._quote
        elif character in "\"'" and self._assigned:
            self._quote, self._naming, self._assigned = character, False, False
        elif character == ">":
            self._opened()
        elif character not in _SPACE:
            # As browsers read tags: a quotation mark anywhere else is a part of a name.
            self._assigned = character == "="
            self._name(character)
        else:
            self._naming = False

    def _name(self, character: str) -> None:
        self._naming = self._naming and (character.isalnum() or character in "-:/")
        if self._naming and len(self._element) < _LONGEST_NAME:
            self._element += character.lower()

    def _in_mark(self, character: str) -> None:
        if character == ">":
            self._state = "text"

    def _in_raw(self, character: str) -> None:
        self._closing = (self._closing + character.lower())[-len(self._raw) - 2 :]
        if self._closing == f"</{self._raw}":
            self._state, self._quote, self._assigned = "tag", "", False
            self._naming, self._element = False, "/"

    def _opened(self) -> None:
        element = self._element.rstrip("/")
        self._state = "text"
        if element in words("raw"):
            self._state, self._raw, self._closing = "raw", element, ""
