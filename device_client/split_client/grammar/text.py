"""A reply that is a text of a grammar or regular expression, and ends whole where a way is found.

While many tokens are left, everything that the grammar allows is allowed. Once few are, the next
token has to leave room for an end that was found: of a few tokens each is tried; of many, all are
allowed as long as there is more room than any token has taken so far.
"""

from __future__ import annotations

from typing import Final

import llguidance
import numpy as np

from split_client.grammar.ending import ending_path
from split_client.grammar.matched import MatchedText
from split_client.grammar.vocabulary import Mask, Vocabulary

# Tokens left beyond an end that was found, below which every token has to leave room for one.
_TIGHT: Final = 16
_FEW: Final = 12
# What a token is taken to add to the shortest end before any has added more.
_JUMP: Final = 2


class TextConstraint(MatchedText):
    """See :class:`MatchedText`."""

    def __init__(self, matcher: llguidance.LLMatcher, vocabulary: Vocabulary) -> None:
        """``matcher``: at its beginning, and this constraint's own."""
        super().__init__(matcher, vocabulary)
        self._jump = _JUMP

    def _moved(self, token: int) -> None:
        path = self._path
        if path and path[0] == token:
            self._path = path[1:]
        elif path is not None:
            self._path = self._still_ending(path, len(self._vocabulary.texts[token]))

    def _carefree_within(self, slack: int) -> int | None:
        return None if slack <= _TIGHT else (slack - _TIGHT) // (1 + self._jump)

    def _ending(self, remaining: int) -> tuple[int, ...] | None:
        before = self._path
        if before is None or len(before) > remaining:
            self._path = ending_path(self._matcher, self._vocabulary, remaining)
        return self._path

    def _still_ending(self, path: tuple[int, ...], most: int) -> tuple[int, ...] | None:
        """The end of the text of ``path`` without at most ``most`` of its first tokens, if any."""
        if self._matcher.is_accepting():
            return ()
        for start in range(min(most, len(path) - 1) + 1):
            rest = list(path[start:])
            copy = self._matcher.deep_copy()
            if rest and copy.validate_tokens(rest) == len(rest):
                copy.consume_tokens(rest)
                if copy.is_accepting():
                    return tuple(rest)
        found = ending_path(self._matcher, self._vocabulary, len(path) + _TIGHT)
        if found is not None:
            self._jump = max(self._jump, len(found) - len(path) + 1)
        return found

    def _careful(self, mask: Mask, path: tuple[int, ...], remaining: int) -> Mask:
        """The next token of ``path``, and those after which the text can still be completed."""
        allowed = np.zeros_like(mask)
        allowed[[*path[:1], *self._vocabulary.eos]] = True
        tokens = np.flatnonzero(mask)
        if len(tokens) <= _FEW:
            others = (token for token in tokens.tolist() if not allowed[token])
            allowed[[token for token in others if self._leaves_room(token, remaining - 1)]] = True
        elif remaining - len(path) > self._jump:
            allowed |= mask
        allowed &= mask
        return allowed if allowed.any() else mask

    def _leaves_room(self, token: int, remaining: int) -> bool:
        matcher = self._matcher.deep_copy()
        if not matcher.consume_token(token):
            return False
        return ending_path(matcher, self._vocabulary, remaining, thorough=False) is not None
