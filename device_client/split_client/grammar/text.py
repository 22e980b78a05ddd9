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
from split_client.grammar.following import forced_tokens, permitted_tokens
from split_client.grammar.vocabulary import Mask, Vocabulary

# Tokens left beyond an end that was found, below which every token has to leave room for one.
_TIGHT: Final = 16
_FEW: Final = 12
# What a token is taken to add to the shortest end before any has added more.
_JUMP: Final = 2
_PAUSE: Final = 16


class TextConstraint:
    """A ``split_client.generation.constraint.Constraint``."""

    def __init__(self, matcher: llguidance.LLMatcher, vocabulary: Vocabulary) -> None:
        """``matcher``: at its beginning, and this constraint's own."""
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._path: tuple[int, ...] | None = None
        self._jump = _JUMP
        self._carefree = 0
        self._pause = _PAUSE
        self._remaining: int | None = None
        self._settled = False

    @property
    def finished(self) -> bool:
        """The text is whole and nothing may follow."""
        return bool(self._matcher.is_stopped())

    @property
    def whole(self) -> bool:
        """The text so far is one of the form."""
        return bool(self._matcher.is_accepting())

    def forced(self, remaining: int) -> list[int]:
        """At most ``remaining`` tokens that come next whatever is chosen; it does not move."""
        self._remaining = remaining
        return forced_tokens(self._matcher, remaining)

    def permitted(self, tokens: list[int], remaining: int) -> int:
        """How many of the first of ``tokens`` the grammar allows one after the other; it does not
        move. Where few tokens remain, :meth:`allowed` may leave out some of them.
        """
        return permitted_tokens(self._matcher, tokens[:remaining])

    def allowed(self, remaining: int) -> Mask:
        """The mask [rows] of the tokens that may come next."""
        mask = self._vocabulary.mask(self._matcher)
        path = self._settle(remaining)
        return mask if path is None else self._careful(mask, path, remaining)

    def accept(self, token: int) -> None:
        """``token`` was chosen from what was allowed, or forced."""
        if not self._settled and self._remaining is not None:
            # A forced token, which leaves everything as if it had been chosen.
            self._settle(self._remaining)
        self._settled = False
        self._remaining = None if self._remaining is None else self._remaining - 1
        self._matcher.consume_token(token)
        path = self._path
        if path and path[0] == token:
            self._path = path[1:]
        elif path is not None:
            self._path = self._still_ending(path, len(self._vocabulary.texts[token]))

    def _settle(self, remaining: int) -> tuple[int, ...] | None:
        """A path to an end that the next token has to leave room for, None where there is time."""
        self._remaining, self._settled = remaining, True
        if self._carefree > 0:
            self._carefree -= 1
            return None
        path = self._ending(remaining)
        if path is None:
            self._carefree, self._pause = self._pause, 2 * self._pause
            return None
        slack = remaining - len(path)
        if slack > _TIGHT:
            self._carefree = (slack - _TIGHT) // (1 + self._jump)
            return None
        return path

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
        return ending_path(matcher, self._vocabulary, remaining) is not None
