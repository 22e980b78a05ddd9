"""Guesses from a text that the caller expects, such as the file that is to be edited."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from split_client.generation.speculation.drafts import Draft
from split_client.generation.speculation.ngrams import LONGEST, Ngrams
from split_client.generation.speculation.resuming import Resuming


class Given:
    """``tokens``: ids of the text. The reply is thought to begin where the chat ends that is
    followed first, and to be the text, but for differences.
    """

    name = "given"

    def __init__(self, tokens: Sequence[int]) -> None:
        self._text = Ngrams()
        self._text.extend(tokens)
        self._place = Resuming(self._text)
        self._begun: int | None = None
        self._tail, self._length = array("i"), 0

    def follow(self, tokens: Sequence[int]) -> None:
        """As :meth:`DraftSource.follow`."""
        if self._begun is None or len(tokens) < self._begun:
            self._begun = len(tokens)
            self._place.come_to(0, self._begun)
        self._length = len(tokens)
        # What stands before the reply is no part of the text.
        self._tail = array("i", tokens[max(self._begun, len(tokens) - LONGEST) :])

    def draft(self, most: int) -> Draft | None:
        """As :meth:`DraftSource.draft`."""
        match, tokens = self._place.draft(self._tail, self._length, most)
        return Draft(self.name, tokens, match) if tokens else None

    def forget(self) -> None:
        """As :meth:`DraftSource.forget`; the text goes too."""
        self._text = Ngrams()
        self._place, self._tail = Resuming(self._text), array("i")
