"""A reply that is a JSON text of a schema, and ends as a whole one where that is possible at all.

While many tokens are left, everything that the grammar allows is allowed. Once the next token could
make the rest too long, only what leaves room for a known closing path is.
"""

from __future__ import annotations

import re
from typing import Final

import llguidance
import numpy as np

from split_server.compat.grammar_closing import Place, closing_path
from split_server.compat.grammar_sizes import Jumps
from split_server.compat.grammar_vocabulary import Mask, Vocabulary

# The rest of a string that is a key: up to a quote which a colon follows.
_REST_OF_KEY: Final = re.compile(rb'(?:[^"\\]|\\.)*":')
_VERIFIED: Final = b'{}[],:"'


class JsonConstraint:
    """A ``split_client.generation.constraint.Constraint``."""

    def __init__(self, matcher: llguidance.LLMatcher, vocabulary: Vocabulary, jumps: Jumps) -> None:
        """``matcher``: at its beginning, and this constraint's own."""
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._jumps = jumps
        self._place = Place()
        self._path: tuple[int, ...] | None = None
        self._carefree = 0

    @property
    def finished(self) -> bool:
        """The text is whole and nothing may follow."""
        return bool(self._matcher.is_stopped())

    def accept(self, token: int) -> None:
        """``token`` was chosen from what was allowed."""
        self._matcher.consume_token(token)
        self._place = self._place.after(self._vocabulary.texts[token])
        path = self._path
        self._path = path[1:] if path and path[0] == token else self._still_closing(path)

    def allowed(self, remaining: int) -> Mask:
        """The mask [rows] of the tokens that may come next."""
        mask = self._vocabulary.mask(self._matcher)
        if self._carefree > 0:
            self._carefree -= 1
            return mask
        path = self._closing(remaining)
        if path is None:
            return mask
        slack, jump = remaining - len(path), self._jumps.any
        if slack > jump:
            self._carefree = (slack - jump - 1) // (jump + 1)
            return mask
        return self._careful(mask, path, remaining)

    def _still_closing(self, path: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """``path`` where it still ends the text, whose brackets and quotes it then closes."""
        if not path or self._matcher.validate_tokens(list(path)) != len(path):
            return None
        return path

    def _closing(self, remaining: int) -> tuple[int, ...] | None:
        if self._path is None:
            self._path = closing_path(self._matcher, self._place, self._vocabulary, remaining)
        return self._path if self._path is not None and len(self._path) <= remaining else None

    def _careful(self, mask: Mask, path: tuple[int, ...], remaining: int) -> Mask:
        """The next token of ``path``, and those after which the text can still be completed."""
        allowed = np.zeros_like(mask)
        allowed[list(path[:1]) or self._vocabulary.eos] = True
        if remaining - len(path) > self._jumps.leaf + 1 and not self._in_key(path):
            harmless = self._vocabulary.inside if self._place.quoted else self._vocabulary.plain
            allowed |= harmless
        for byte in _VERIFIED:
            token = self._vocabulary.single.get(byte)
            if token is not None and mask[token] and not allowed[token]:
                allowed[token] = self._leaves_room(token, remaining - 1)
        allowed &= mask
        return allowed if allowed.any() else mask

    def _in_key(self, path: tuple[int, ...]) -> bool:
        """Within a key, where one more letter can decide which value must follow."""
        rest = b"".join(self._vocabulary.texts[token] for token in path)
        return self._place.quoted and _REST_OF_KEY.match(rest) is not None

    def _leaves_room(self, token: int, remaining: int) -> bool:
        matcher = self._matcher.deep_copy()
        if not matcher.consume_token(token):
            return False
        place = self._place.after(self._vocabulary.texts[token])
        return closing_path(matcher, place, self._vocabulary, remaining) is not None
