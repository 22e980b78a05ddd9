"""What the tokens of one reply look at, and what that makes of the brightness of its chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from split_client.chat.attended import Placed, Transcript
from split_client.chat.brightness.formula import Row, look, new
from split_client.chat.brightness.rows import Mode, row_of
from split_client.chat.brightness.runs import kept, values_in
from split_client.chat.message import Message
from split_client.generation.loop import TokenEvent
from split_client.model.token_pieces import Piece
from split_wire.attention import AttentionWeights

# Weights of a reply's rows that are kept, of 16 bytes each.
MOST_KEPT = 1 << 20


@dataclass(frozen=True, slots=True)
class Told:
    """A message that was told to the model: its ``number`` in the chat, from 0, the pieces that
    have its text, and the code points of its content that travelled.
    """

    number: int
    pieces: tuple[Placed, ...]
    left: NDArray[np.int64]


@dataclass(slots=True)
class Gathering:
    """One reply to ``chat``, which ends with what it answers. ``told``: the messages before the
    turn that it belongs to. ``rows``: those of its newest tokens.
    """

    mode: Mode
    chat: tuple[Message, ...]
    told: tuple[Told, ...]
    values: NDArray[np.int64]
    rows: list[Row] = field(default_factory=list)
    _weights: int = 0

    def take(self, weights: AttentionWeights, length: int) -> None:
        """A token was chosen from ``weights`` over ``length`` positions.

        Raises BrightnessInvalid.
        """
        row = row_of(self.mode, weights, length)
        look(self.values, row)
        self.rows.append(row)
        self._weights += len(row.shares)
        while self._weights > MOST_KEPT:
            self._weights -= len(self.rows.pop(0).shares)

    def heard(self, event: TokenEvent, before: int) -> None:
        """:meth:`take` of a token with ``before`` others before it; one that a form forced has no
        row.
        """
        if event.attention is not None:
            self.take(event.attention, before)

    def messages(self) -> tuple[Message, ...]:
        """The chat with the brightness that it has now."""
        made = list(self.chat)
        for told in self.told:
            message = made[told.number]
            values = values_in(message.brightness, len(message.content))
            for placed in told.pieces:
                points = told.left[placed.start : placed.stop]
                values[points] = self.values[placed.piece.start : placed.piece.stop].max()
            made[told.number] = replace(message, brightness=kept(values))
        return tuple(made)


def gathering(
    mode: Mode,
    chat: Sequence[Message],
    sent: Sequence[tuple[int, Message]],
    pieces: Sequence[Piece],
) -> Gathering:
    """For a reply to ``chat``, of which ``sent`` travelled, each with its number; ``pieces`` of the
    prompt.
    """
    count = pieces[-1].stop if pieces else 0
    reply = Message("assistant", "")
    transcript = Transcript(pieces, count, (*(message for _, message in sent), reply))
    turn = max((at for at, message in enumerate(chat) if message.role == "user"), default=len(chat))
    found = zip(sent, transcript.spread(), strict=False)
    told = tuple(
        Told(number, tuple(placed), _left(chat[number]))
        for (number, _), placed in found
        if number < turn and placed and chat[number].left.strip()
    )
    end = max((each.pieces[-1].piece.stop for each in told), default=0)
    made = Gathering(mode, tuple(chat), told, new(end))
    _begin(made)
    return made


def _begin(made: Gathering) -> None:
    """Have the tokens the brightness of the messages that they are of."""
    for told in made.told:
        message = made.chat[told.number]
        values = values_in(message.brightness, len(message.content))
        for placed in told.pieces:
            points = told.left[placed.start : placed.stop]
            made.values[placed.piece.start : placed.piece.stop] = values[points].max()


def _left(message: Message) -> NDArray[np.int64]:
    """The code points of its content that travel."""
    travels = np.ones(len(message.content), bool)
    for start, stop in message.dropped:
        travels[start:stop] = False
    return np.flatnonzero(travels)
