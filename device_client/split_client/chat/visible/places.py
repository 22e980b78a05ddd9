"""Where the messages of a chat, and their lines, lie among its positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from split_client.chat.attended import Transcript
from split_client.chat.conversation import Message
from split_client.generation.detokenizer import Decoder
from split_client.model.token_pieces import Piece, pieces_of
from split_wire.hiding.spans import SINKS, Spans, union


@dataclass(frozen=True, slots=True)
class Line:
    """Text of the positions from ``start`` to ``end``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Part:
    """A message whose text is found, as ``lines``, of which there is one at least."""

    role: str
    lines: tuple[Line, ...]

    @property
    def start(self) -> int:
        """Its first position."""
        return self.lines[0].start

    @property
    def end(self) -> int:
        """The position behind its last."""
        return self.lines[-1].end

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(line.text for line in self.lines)


def parts_of(
    decoder: Decoder, ids: Sequence[int], prompt_tokens: int, messages: Sequence[Message]
) -> tuple[Part, ...]:
    """Of a chat that ends with a reply: ``ids`` of its prompt, ``prompt_tokens`` long, and of it.
    What the template changed is left out.
    """
    transcript = Transcript(pieces_of(decoder, ids), prompt_tokens, messages)
    placed = ((message.role, _lines(pieces)) for message, pieces in transcript.placed())
    return tuple(Part(role, lines) for role, lines in placed if lines)


def last_message(parts: Iterable[Part]) -> Spans:
    """Where the last message of the user lies, if there is one."""
    users = [part for part in parts if part.role == "user"]
    return ((users[-1].start, users[-1].end),) if users else ()


def always_seen(parts: Sequence[Part]) -> Spans:
    """What no policy hides: the first positions, the system message, the user's last message."""
    system = tuple((part.start, part.end) for part in parts if part.role == "system")
    return union(union(((0, SINKS),), system), last_message(parts))


def _lines(pieces: Iterable[Piece]) -> tuple[Line, ...]:
    lines, text, start = list[Line](), "", None
    end = 0
    for piece in pieces:
        start = piece.start if start is None else start
        text, end = text + piece.text, piece.stop
        if "\n" in piece.text:
            lines.append(Line(text, start, end))
            text, start = "", None
    if start is not None:
        lines.append(Line(text, start, end))
    return tuple(lines)
