"""A reply that is a JSON text of a schema, and ends as a whole one where that is possible at all.

While many tokens are left, everything that the grammar allows is allowed. Once the next token could
make the rest too long, only what leaves room for a known closing path is.
"""

from __future__ import annotations

from typing import Final

import llguidance
import numpy as np

from split_client.generation.constraint import NothingAhead
from split_client.grammar.closing import closing_path
from split_client.grammar.place import Place
from split_client.grammar.sizes import Jumps
from split_client.grammar.vocabulary import Mask, Vocabulary

# Tokens without another search after one that found no end; twice as many after the next.
_PAUSE: Final = 16
_STRUCTURE: Final = b'{}[],:"'


class JsonConstraint(NothingAhead):
    """A ``split_client.generation.constraint.Constraint``."""

    def __init__(self, matcher: llguidance.LLMatcher, vocabulary: Vocabulary, jumps: Jumps) -> None:
        """``matcher``: at its beginning, and this constraint's own."""
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._jumps = jumps
        self._place = Place()
        self._path: tuple[int, ...] | None = None
        self._known: tuple[int, ...] = ()
        self._carefree = 0
        self._pause = _PAUSE

    @property
    def finished(self) -> bool:
        """The text is whole and nothing may follow."""
        return bool(self._matcher.is_stopped())

    def accept(self, token: int) -> None:
        """``token`` was chosen from what was allowed."""
        self._matcher.consume_token(token)
        text = self._vocabulary.texts[token]
        self._place = self._place.after(text)
        path = self._path
        if path is not None and self._matcher.is_accepting():
            self._path = ()
        elif path and path[0] == token:
            self._path = path[1:]
        elif path:
            self._path = self._still_closing(path, len(text))
        else:
            self._path = None

    def allowed(self, remaining: int) -> Mask:
        """The mask [rows] of the tokens that may come next."""
        mask = self._vocabulary.mask(self._matcher)
        if self._carefree > 0:
            self._carefree -= 1
            return mask
        path = self._closing(remaining)
        if path is None:
            # A token brings the end at most one token closer: what does not fit, hardly will.
            self._carefree, self._pause = self._pause, 2 * self._pause
            return mask
        slack, jump = remaining - len(path), self._jumps.any
        if slack > jump:
            self._carefree = (slack - jump - 1) // (jump + 1)
            return mask
        return self._careful(mask, path, remaining)

    def _still_closing(self, path: tuple[int, ...], most: int) -> tuple[int, ...] | None:
        """The end of the text of ``path`` without at most ``most`` of its first tokens, if any."""
        for start in range(min(most, len(path) - 1), -1, -1):
            rest = path[start:]
            if self._matcher.validate_tokens(list(rest)) == len(rest) and self._closes(rest):
                return rest
        return None

    def _closes(self, path: tuple[int, ...]) -> bool:
        """Whether ``path``, which may follow, ends outside of every bracket and quote."""
        return self._place.after(self._vocabulary.text(path)).closed

    def _closing(self, remaining: int) -> tuple[int, ...] | None:
        if self._path is None or len(self._path) > remaining:
            self._path = closing_path(
                self._matcher, self._place, self._vocabulary, remaining, known=self._known
            )
        self._known = self._path or ()
        return self._path

    def _careful(self, mask: Mask, path: tuple[int, ...], remaining: int) -> Mask:
        """The next token of ``path``, and those after which the text can still be completed."""
        allowed = np.zeros_like(mask)
        allowed[[*path[:1], *self._vocabulary.eos]] = True
        quoted = self._place.quoted
        # One more letter of a key can decide which value must follow, whatever that needs.
        if remaining - len(path) > self._jumps.leaf + 1 and not (quoted and self._place.naming):
            allowed |= self._vocabulary.inside if quoted else self._vocabulary.plain
        for byte in b'"' if quoted else _STRUCTURE:
            token = self._vocabulary.single.get(byte)
            if token is not None and mask[token] and not allowed[token]:
                allowed[token] = self._leaves_room(token, path, remaining - 1)
        allowed &= mask
        return allowed if allowed.any() else mask

    def _leaves_room(self, token: int, path: tuple[int, ...], remaining: int) -> bool:
        matcher = self._matcher.deep_copy()
        if not matcher.consume_token(token):
            return False
        place = self._place.after(self._vocabulary.texts[token])
        found = closing_path(
            matcher, place, self._vocabulary, remaining, known=path, thorough=False
        )
        return found is not None
