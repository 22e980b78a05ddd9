"""A reply that is a JSON text of a schema, and ends as a whole one where that is possible at all.

While many tokens are left, everything that the grammar allows is allowed. Once the next token could
make the rest too long, only what leaves room for a known closing path is.
"""

from __future__ import annotations

from typing import Final

import llguidance
import numpy as np

from split_client.grammar.closing import closing_path
from split_client.grammar.matched import MatchedText
from split_client.grammar.place import Place
from split_client.grammar.sizes import Jumps
from split_client.grammar.vocabulary import Mask, Vocabulary

_FEW: Final = 8
_STRUCTURE: Final = b'{}[],:"'


class JsonConstraint(MatchedText):
    """See :class:`MatchedText`; the text is JSON."""

    def __init__(self, matcher: llguidance.LLMatcher, vocabulary: Vocabulary, jumps: Jumps) -> None:
        """``matcher``: at its beginning, and this constraint's own."""
        super().__init__(matcher, vocabulary)
        self._jumps = jumps
        self._place = Place()
        self._known: tuple[int, ...] = ()

    def _moved(self, token: int) -> None:
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

    def _carefree_within(self, slack: int) -> int | None:
        jump = self._jumps.any
        return None if slack <= jump else (slack - jump - 1) // (jump + 1)

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

    def _ending(self, remaining: int) -> tuple[int, ...] | None:
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
        tokens = np.flatnonzero(mask)
        if len(tokens) <= _FEW:
            # One of two values may decide what must follow, so that no class of tokens is safe.
            self._add(allowed, tokens.tolist(), path, remaining)
        else:
            self._add_of_many(allowed, mask, path, remaining)
        allowed &= mask
        return allowed if allowed.any() else mask

    def _add_of_many(
        self, allowed: Mask, mask: Mask, path: tuple[int, ...], remaining: int
    ) -> None:
        quoted = self._place.quoted
        # One more letter of a key can decide which value must follow, whatever that needs.
        if remaining - len(path) > self._jumps.leaf + 1 and not (quoted and self._place.naming):
            allowed |= self._vocabulary.inside if quoted else self._vocabulary.plain
        single = (self._vocabulary.single.get(byte) for byte in (b'"' if quoted else _STRUCTURE))
        self._add(allowed, [t for t in single if t is not None and mask[t]], path, remaining)

    def _add(self, allowed: Mask, tokens: list[int], path: tuple[int, ...], remaining: int) -> None:
        """Allow those of ``tokens`` after which the text can still be completed."""
        for token in tokens:
            if not allowed[token] and self._leaves_room(token, path, remaining - 1):
                allowed[token] = True

    def _leaves_room(self, token: int, path: tuple[int, ...], remaining: int) -> bool:
        matcher = self._matcher.deep_copy()
        if not matcher.consume_token(token):
            return False
        place = self._place.after(self._vocabulary.texts[token])
        found = closing_path(
            matcher, place, self._vocabulary, remaining, known=path, thorough=False
        )
        return found is not None
