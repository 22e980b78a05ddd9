"""Token ids to text, one at a time."""

from __future__ import annotations

from typing import Protocol

_UNFINISHED = "\ufffd"
# A character has at most four bytes, so a longer run without a whole one is not going to become
# text.
_MAX_HELD = 16


class Decoder(Protocol):
    """A decoder of ids into text."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        """The text of ``ids``."""


class Detokenizer:
    """Text in pieces whose concatenation is the decoded whole; special tokens are left out.

    A character whose UTF-8 bytes are split over tokens is held back until it is whole; what comes
    before it is not. Only the previous piece and what is held back are decoded, so the cost per
    token does not grow with the reply. The previous piece stays as context because some decoders
    treat the start of a text specially; tokens that never have a text are left out of it, so that
    a run of them costs no more.
    """

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._context = list[int]()
        self._shown = ""
        self._held: list[int] = []

    def push(self, token: int) -> str:
        """The text that ``token`` completes, often empty."""
        self._held.append(token)
        text = self._decoder.decode(self._context + self._held)
        if text.endswith(_UNFINISHED) and len(self._held) < _MAX_HELD:
            return self._begin(text.rstrip(_UNFINISHED))
        return self._take(text)

    def flush(self) -> str:
        """The bytes that are still held back, as replacement characters."""
        return self._take(self._decoder.decode(self._context + self._held))

    def _begin(self, whole: str) -> str:
        """The new part of the ``whole`` characters; the tokens stay for the one that follows."""
        piece = whole[len(self._shown) :]
        self._shown += piece
        return piece

    def _take(self, text: str) -> str:
        piece = text[len(self._shown) :]
        if piece:
            self._context, self._shown = self._held, self._decoder.decode(self._held)
        else:
            self._context += [token for token in self._held if self._matters(token)]
        self._held = []
        return piece

    def _matters(self, token: int) -> bool:
        """False for special tokens and ids without a token.

        A space at the beginning has no text either, but several of them have, and so may what
        follows it.
        """
        return bool(self._decoder.decode([token] * _MAX_HELD))
