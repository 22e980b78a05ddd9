"""Guesses from the chat itself: what followed the same tokens earlier in it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from split_client.generation.prefix import common_prefix
from split_client.generation.speculation.drafts import Draft
from split_client.generation.speculation.ngrams import Ngrams
from split_client.generation.speculation.resuming import Resuming

# A chat that has grown by at most so many tokens, and ends before them as it did, has only grown.
_FEW = 64


class Suffix:
    """The prompt and replies of one chat, held as ids: some 20 bytes a token."""

    name = "suffix"

    def __init__(self) -> None:
        self._begin()

    def follow(self, tokens: Sequence[int]) -> None:
        """As :meth:`DraftSource.follow`; takes microseconds where few tokens were added."""
        common = self._common(tokens)
        self._text.cut(common)
        self._text.extend(tokens[common:])

    def draft(self, most: int) -> Draft | None:
        """As :meth:`DraftSource.draft`."""
        match, tokens = self._place.draft(self._text.tail(), len(self._text), most)
        return Draft(self.name, tokens, match) if tokens else None

    def forget(self) -> None:
        """As :meth:`DraftSource.forget`."""
        self._begin()

    def _begin(self) -> None:
        self._text = Ngrams(repeats=True)
        self._place = Resuming(self._text)

    def _common(self, tokens: Sequence[int]) -> int:
        """How many of the first of ``tokens`` are held already."""
        held = self._text.tokens
        near = max(0, len(held) - _FEW)
        grown = len(tokens) - len(held)
        if 0 <= grown <= _FEW and array("i", tokens[near : len(held)]) == held[near:]:
            return len(held)
        return common_prefix(held, array("i", tokens))
