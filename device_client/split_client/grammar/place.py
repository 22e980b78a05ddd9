"""The place where an unfinished JSON text stands."""

from __future__ import annotations

from typing import Final, NamedTuple

_OPENING: Final = frozenset(b"{[")
_CLOSING: Final = frozenset(b"}]")
_QUOTE, _BACKSLASH, _COLON, _COMMA, _BRACE = b'"\\:,{'
_LONGEST_WORD: Final = 64


class Place(NamedTuple):
    """``frames``: one for each open array (items before the current one) or object (latest key).

    ``naming``: a key comes next or is being written, ``word`` is its beginning; ``run``: bytes of
    the latest string, number or literal; ``quoted``: within a string, ``escaped``: after its
    backslash.
    """

    frames: tuple[int | bytes, ...] = ()
    naming: bool = False
    word: bytes = b""
    run: int = 0
    quoted: bool = False
    escaped: bool = False

    @property
    def closed(self) -> bool:
        """Outside of everything."""
        return not (self.frames or self.quoted)

    def after(self, text: bytes) -> Place:
        """The place after ``text`` more."""
        place = self
        for byte in text:
            place = place._within(byte) if place.quoted else place._between(byte)
        return place

    def _within(self, byte: int) -> Place:
        if self.escaped:
            return self._replace(escaped=False, run=self.run + 1)
        if byte == _QUOTE:
            return self._replace(quoted=False, run=self.run + 1)
        word = self.word
        if self.naming and len(word) < _LONGEST_WORD:
            word += bytes((byte,))
        return self._replace(word=word, run=self.run + 1, escaped=byte == _BACKSLASH)

    def _between(self, byte: int) -> Place:
        frames = self.frames
        if byte == _QUOTE:
            return Place(frames, self.naming, quoted=True)
        if byte in _OPENING:
            names = byte == _BRACE
            return Place((*frames, b"" if names else 0), names)
        if byte in _CLOSING:
            return Place(frames[:-1])
        if byte == _COLON:
            return Place((*frames[:-1], self.word))
        if byte == _COMMA:
            latest = frames[-1]
            if isinstance(latest, int):
                return Place((*frames[:-1], latest + 1))
            return Place(frames, naming=True)
        return self._replace(run=self.run + 1)
