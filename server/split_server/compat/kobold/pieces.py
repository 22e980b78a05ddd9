"""Texts of single tokens that, joined, are exactly the text of all."""

from __future__ import annotations

from collections.abc import Sequence

from split_client.generation.detokenizer import Decoder, Detokenizer
from split_client.generation.loop import TokenEvent


class WholeDecoder:
    """Decodes special tokens too, whatever its caller says."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        """The text of ``ids``, special tokens included."""
        del skip_special_tokens
        return self._decoder.decode(ids, skip_special_tokens=False)


def token_texts(decoder: Decoder, ids: Sequence[int]) -> list[str]:
    """The text that each of ``ids`` completes, special tokens included.

    A character that is split over tokens is the text of the last of them.
    """
    detokenizer = Detokenizer(WholeDecoder(decoder))
    texts = [detokenizer.push(token) for token in ids]
    if texts:
        texts[-1] += detokenizer.flush()
    return texts


def token_text(decoder: Decoder, token: int) -> str:
    """The text of one token on its own; part of a character shows as a replacement character."""
    return decoder.decode([token], skip_special_tokens=False)


class Settling:
    """Tells whether all text up to a token is out, so that the token may be sent.

    What the decode loop still holds back (part of a character, the possible beginning of a stop
    string) becomes text of a later token, or of this one if it turns out to be the last.
    """

    def __init__(self, decoder: Decoder, stops: Sequence[str]) -> None:
        self._stops = bool(stops)
        self._detokenizer = Detokenizer(decoder)
        self._ahead = 0

    def settled(self, event: TokenEvent) -> bool:
        """Whether nothing is held back after ``event``; ask once for each, in order."""
        if self._stops:
            made = self._detokenizer.push(event.token)
            self._ahead += len(made) - len(event.text)
        return bool(event.text) and self._ahead == 0
