"""Token ids to the pieces of text that they are, each with the tokens that it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from split_client.generation.detokenizer import Decoder, Detokenizer


@dataclass(frozen=True, slots=True)
class Piece:
    """``text`` of the tokens ``start`` to ``stop`` (exclusive); a control token has none."""

    text: str
    start: int
    stop: int


def pieces_of(decoder: Decoder, ids: Sequence[int]) -> list[Piece]:
    """Pieces of ``ids`` in order: together every token once, and exactly the decoded text.

    A piece is one token, or the few that share a character.
    """
    detokenizer, pieces, start = Detokenizer(decoder), list[Piece](), 0
    for index, token in enumerate(ids):
        text = detokenizer.push(token)
        if text or (start == index and _has_no_text(decoder, token)):
            pieces.append(Piece(text, start, index + 1))
            start = index + 1
    rest = detokenizer.flush()
    if start < len(ids):
        pieces.append(Piece(rest, start, len(ids)))
    return pieces


def _has_no_text(decoder: Decoder, token: int) -> bool:
    """Whether it is a control token, rather than the beginning of a character."""
    return not decoder.decode([token]) and bool(decoder.decode([token], skip_special_tokens=False))
