"""Text of a model, a server or a tool, made harmless for a terminal.

Removed: escape sequences (ECMA-48: ESC, CSI, and strings such as OSC), all control characters but
newline and tab, the characters that reorder or hide text (Unicode bidirectional controls, UAX 9,
and tag characters), and halves of surrogate pairs, which no terminal's encoding has.
"""

from __future__ import annotations

_ESC, _BELL = "\x1b", "\x07"
_CSI = "\x9b"
# DCS, SOS, OSC, PM and APC begin a string that ST or BEL ends.
_STRING_STARTS = "PX]^_"
_C1_STRINGS = "\x90\x98\x9d\x9e\x9f"
_ST = "\x9c"
# A string that is longer than any real one is text after all, and must not swallow the reply.
_LONGEST_SEQUENCE = 256
_HIDDEN = frozenset(
    [
        *"\u061c\u200e\u200f\u2028\u2029\ufeff",
        *map(chr, range(0x202A, 0x202F)),
        *map(chr, range(0x2066, 0x206A)),
        *map(chr, range(0xE0000, 0xE0080)),
    ]
)


class Sanitiser:
    """A filter over a stream: sequences that are split over several pieces are found too."""

    def __init__(self) -> None:
        self._state = "text"
        self._length = 0

    def feed(self, text: str) -> str:
        """The harmless part of ``text``."""
        if self._state == "text" and text.isascii() and text.isprintable():
            return text
        return "".join(character for character in text if self._keeps(character))

    def _keeps(self, character: str) -> bool:
        if self._state == "text":
            return self._in_text(character)
        self._length += 1
        if self._length > _LONGEST_SEQUENCE:
            self._state = "text"
            return self._in_text(character)
        getattr(self, f"_in_{self._state}")(character)
        return False

    def _in_text(self, character: str) -> bool:
        if character in (_ESC, _CSI) or character in _C1_STRINGS:
            self._length = 0
            self._state = {_ESC: "escape", _CSI: "csi"}.get(character, "string")
            return False
        if character in "\n\t":
            return True
        return not (_is_control(character) or _is_half(character) or character in _HIDDEN)

    def _in_escape(self, character: str) -> None:
        if character == "[":
            self._state = "csi"
        elif character in _STRING_STARTS:
            self._state = "string"
        elif not " " <= character <= "/":
            self._state = "text"

    def _in_csi(self, character: str) -> None:
        if character == _ESC:
            self._state = "escape"
        elif not " " <= character <= "?":
            self._state = "text"

    def _in_string(self, character: str) -> None:
        if character in (_BELL, _ST):
            self._state = "text"
        elif character == _ESC:
            self._state = "escape"


def sanitise(text: str) -> str:
    """One whole text made harmless."""
    return Sanitiser().feed(text)


def one_line(text: str, longest: int = 300) -> str:
    """The same on one line, for names and error messages."""
    line = " ".join(sanitise(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f"


def _is_half(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"
