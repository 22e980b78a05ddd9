"""Finding the place in a text that a reply copies, also behind a difference."""

from __future__ import annotations

from array import array

from split_client.generation.speculation.ngrams import Ngrams

# A match of so many tokens says which place is being copied.
_PLAIN = 4
# Tokens for which the place is remembered after such a match: a step's draft, then a difference.
_REMEMBERED = 32
# How far the copy may have moved by what was put in or left out.
_MOVED = 8


class Resuming:
    """The place in ``text`` that the reply copies.

    Where the last tokens match nothing, the reply has left its text for a few tokens. It is then
    thought to come back near the place where it would be without the difference.
    """

    def __init__(self, text: Ngrams) -> None:
        self._text = text
        # A place, and the length of the chat that came there.
        self._place: tuple[int, int] | None = None

    def come_to(self, at: int, length: int) -> None:
        """The chat of so many tokens goes on at the position ``at``."""
        self._place = (at, length)

    def forget(self) -> None:
        """No place is known."""
        self._place = None

    def draft(self, tail: array[int], length: int, most: int) -> tuple[int, tuple[int, ...]]:
        """How many tokens match, and at most ``most`` that follow, none where nothing is found;
        ``tail`` are the last tokens of the chat of ``length``.
        """
        match, positions = self._text.found(tail, _PLAIN)
        if positions:
            at, tokens = self._text.continued(positions, most)
            self.come_to(at, length)
            return match, tokens
        near = self._near(tail, length)
        if near is not None:
            match = self._text.agreeing(near, tail)
            return match, self._text.continued([near], most)[1]
        match, positions = self._text.found(tail, 2, below=2)
        if positions:
            return match, self._text.continued(positions, most)[1]
        expected = self._expected(length)
        if expected is None:
            return 0, ()
        return 0, self._text.continued([expected], most)[1]

    def _expected(self, length: int) -> int | None:
        if self._place is None or not 0 <= length - self._place[1] <= _REMEMBERED:
            return None
        at = self._place[0] + length - self._place[1]
        return at if at < len(self._text) else None

    def _near(self, tail: array[int], length: int) -> int | None:
        """The position nearest to the expected one that follows the same last token."""
        expected = self._expected(length)
        if expected is None or not tail:
            return None
        for away in range(_MOVED + 1):
            for at in (expected + away, expected - away):
                if 0 < at < len(self._text) and self._text.tokens[at - 1] == tail[-1]:
                    return at
        return None
