"""The text of a reply told plainly: UTF-8 as it comes, and searches in all of it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field


@dataclass
class Streamed:
    """The text so far, and the ``pieces`` of it that may be shown, in their order."""

    stops: list[str]
    pieces: list[str] = field(default_factory=list)
    stop: str | None = None
    text: str = ""
    broken: bool = False

    def __post_init__(self) -> None:
        self.stops = [stop for stop in self.stops if stop]
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def follow(self, data: bytes) -> None:
        """What is there before; half a character at its end is completed by what follows."""
        self._decoder.decode(data)

    def push(self, data: bytes, final: bool = False) -> None:
        """The bytes of one more token; ``final``: none follow."""
        if self.stop is None:
            fresh = self._decoder.decode(data, final)
            self.broken |= "\ufffd" in fresh and not final
            self.text += fresh
            self.stop = self._found()
        end = len(self.text) if final else self._unsure()
        if self.stop is not None:
            end = self.text.index(self.stop)
        self.pieces.append(self.text[len("".join(self.pieces)) : end])

    def _found(self) -> str | None:
        """The stop string that begins first."""
        found = [stop for stop in self.stops if stop in self.text]
        return min(found, key=self.text.index, default=None)

    def _unsure(self) -> int:
        """The place from which on a stop string may have begun."""
        starts = range(len(self.text))
        begun = (n for n in starts if any(s.startswith(self.text[n:]) for s in self.stops))
        return next(begun, len(self.text))
