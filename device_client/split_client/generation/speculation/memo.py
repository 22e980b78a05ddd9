"""Guesses from earlier replies, found by the tokens that preceded."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from split_client.generation.speculation.drafts import Draft
from split_client.generation.speculation.ngrams import LONGEST, Ngrams

# Of the indices, for every token.
_BYTES_OF_A_TOKEN = 16
# Stands between replies, and matches nothing.
_BETWEEN = -1
MOST_BYTES = 8 << 20


class Memo:
    """Earlier replies, each behind the end of its prompt, in at most ``most_bytes``.

    They fill two halves in turn, and the older half goes when the newer one is full. A reply that
    used one of them has its tokens in the newer half, so what goes was used longest ago.
    """

    name = "memo"

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes // (2 * _BYTES_OF_A_TOKEN)
        self._newer, self._older = Ngrams(), Ngrams()
        self._tail = array("i")

    def __len__(self) -> int:
        """Tokens that are held."""
        return len(self._newer) + len(self._older)

    def follow(self, tokens: Sequence[int]) -> None:
        """As :meth:`DraftSource.follow`."""
        self._tail = array("i", tokens[-LONGEST:])

    def draft(self, most: int) -> Draft | None:
        """As :meth:`DraftSource.draft`."""
        best = Draft(self.name, (), 0)
        for text in (self._newer, self._older):
            match, positions = text.found(self._tail, 2)
            tokens = text.continued(positions, most)[1] if match > best.match else ()
            if tokens:
                best = Draft(self.name, tokens, match)
        return best if best.tokens else None

    def replied(self, prompt: Sequence[int], reply: Sequence[int]) -> None:
        """Remember ``reply``, and of ``prompt`` what a match may hang on."""
        text = [*prompt[-LONGEST:], *reply, _BETWEEN][-self._most :]
        if len(self._newer) + len(text) > self._most:
            self._newer, self._older = Ngrams(), self._newer
        self._newer.extend(text)

    def forget(self) -> None:
        """As :meth:`DraftSource.forget`."""
        self._newer, self._older, self._tail = Ngrams(), Ngrams(), array("i")
