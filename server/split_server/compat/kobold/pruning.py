"""Which sentences of a prompt its reply looked at least: ``pruning_suggestion``, on request.

By the formula of brightness (docs/brightness.md), from the prompt's rows of one reply. A turn is
the text between two control tokens, a sentence a part as chats leave it out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from split_client.chat.brightness.formula import BORN, look, new
from split_client.chat.brightness.rows import DEFAULT, request_of, row_of
from split_client.chat.context.units import units_of
from split_client.chat.message import Message
from split_client.generation.detokenizer import Decoder
from split_client.generation.loop import TokenEvent
from split_client.model.token_pieces import Piece, pieces_of
from split_wire.attention import AttentionRequest, AttentionWeights

# Sentences that one event names.
_MOST: Final = 256
# The message that is answered and the beginning of the reply.
_OWN: Final = 2


def rows_wanted(layers: int) -> AttentionRequest:
    """What is asked for with each token where its client wants no rows."""
    return request_of(DEFAULT, layers)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Number ``sentence`` of turn ``turn``, both from 0: the tokens ``start`` to ``stop``."""

    turn: int
    sentence: int
    start: int
    stop: int


@dataclass(slots=True)
class Pruning:
    """Of one prompt, whose ``sentences`` may be named and of which the first tokens may change;
    ``seen``: the rows so far.
    """

    prompt: int
    sentences: tuple[Sentence, ...]
    brightness: NDArray[np.int64]
    largest: NDArray[np.int64] = field(init=False)
    seen: int = 0

    def __post_init__(self) -> None:
        self.largest = np.zeros(len(self.brightness), np.int64)

    @classmethod
    def of(cls, decoder: Decoder, ids: Sequence[int]) -> Pruning:
        """For a reply to ``ids``."""
        turns = list(_turns(pieces_of(decoder, ids)))
        before = turns[:-_OWN] if len(turns) > _OWN else []
        found = tuple(one for number, turn in enumerate(before) for one in _sentences(number, turn))
        return cls(len(ids), found, new(before[-1][-1].stop if before else 0))

    def take(self, event: TokenEvent) -> None:
        """A token was chosen. One that a form forced has no row."""
        length, self.seen = self.prompt + self.seen, self.seen + 1
        if event.attention is None:
            return
        row = row_of(DEFAULT, _last(event.attention), length)
        look(self.brightness, row)
        inside = row.positions < len(self.largest)
        np.maximum.at(self.largest, row.positions[inside], row.shares[inside])

    def document(self) -> dict[str, Any]:
        """The event: sentences that are dimmer than they began, the dimmest first."""
        told = [(self._bright(one), one) for one in self.sentences]
        dim = sorted((each for each in told if each[0] < BORN), key=lambda each: each[0])[:_MOST]
        return {
            "type": "pruning_suggestion",
            "prunable_sentences": [
                {
                    "turn_id": one.turn,
                    "sentence_id": one.sentence,
                    "max_attention": int(self.largest[one.start : one.stop].max()) / (1 << 24),
                    "brightness": bright,
                    "start": one.start,
                    "end": one.stop,
                }
                for bright, one in dim
            ],
        }

    def encoded(self, echo: dict[str, Any]) -> bytes:
        """The event as JSON, with what names its request."""
        return json.dumps(self.document() | echo).encode()

    def _bright(self, one: Sentence) -> int:
        """The mean of the brightest quarter of its tokens."""
        own = np.sort(self.brightness[one.start : one.stop])[::-1]
        count = max(1, len(own) // 4)
        return int(own[:count].sum()) // count


def _last(weights: AttentionWeights) -> AttentionWeights:
    """The last quarter of the layers of rows that a client asked for; what is asked for here is
    one row.
    """
    layers = weights.values.shape[0]
    if layers == 1:
        return weights
    return AttentionWeights(weights.values[layers - max(1, layers // 4) :])


def _turns(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Runs of pieces with a text; white space alone is none."""
    run = list[Piece]()
    for piece in (*pieces, Piece("", 0, 0)):
        if piece.text:
            run.append(piece)
            continue
        if "".join(each.text for each in run).strip():
            yield run
        run = []


def _sentences(turn: int, pieces: Sequence[Piece]) -> Iterator[Sentence]:
    """A piece belongs to the sentence that it begins in."""
    text = "".join(piece.text for piece in pieces)
    begins = [0, *accumulate(len(piece.text) for piece in pieces)][:-1]
    for number, unit in enumerate(units_of(Message("user", text))):
        first, last = np.searchsorted(begins, (unit.start, unit.stop))
        if last > first:
            yield Sentence(turn, number, pieces[first].start, pieces[last - 1].stop)
