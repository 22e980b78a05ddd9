"""What the constraints of one reply have in common: a matcher that moves with its tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

import llguidance

from split_client.grammar.vocabulary import Mask, Vocabulary

# Tokens without another search after one that found no end; twice as many after the next.
_PAUSE: Final = 16


class MatchedText(ABC):
    """A ``split_client.generation.constraint.Constraint``.

    ``_path``: tokens to an end that was found; ``_carefree``: tokens for which none is looked for.
    """

    def __init__(self, matcher: llguidance.LLMatcher, vocabulary: Vocabulary) -> None:
        """``matcher``: at its beginning, and this constraint's own."""
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._path: tuple[int, ...] | None = None
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

    def allowed(self, remaining: int) -> Mask:
        """The mask [rows] of the tokens that may come next."""
        mask = self._vocabulary.mask(self._matcher)
        path = self._settle(remaining)
        return mask if path is None else self._careful(mask, path, remaining)

    def forced(self, remaining: int) -> list[int]:
        """At most ``remaining`` tokens that come next whatever is chosen; it does not move.

        At each of them the mask has one bit, so that what :meth:`allowed` keeps for an end whole
        cannot leave them out.
        """
        self._remaining = remaining
        return forced_tokens(self._matcher, remaining)

    def permitted(self, tokens: list[int], remaining: int) -> int:
        """How many of the first of ``tokens`` the grammar allows one after the other; it does not
        move. Where few tokens remain, :meth:`allowed` may leave out some of them.
        """
        return permitted_tokens(self._matcher, tokens[:remaining])

    def accept(self, token: int) -> None:
        """``token`` was chosen from what was allowed, or forced."""
        if not self._settled and self._remaining is not None:
            # A forced token, which leaves everything as if it had been chosen.
            self._settle(self._remaining)
        self._settled = False
        self._remaining = None if self._remaining is None else self._remaining - 1
        self._matcher.consume_token(token)
        self._moved(token)

    def _settle(self, remaining: int) -> tuple[int, ...] | None:
        """A path to an end that the next token has to leave room for, None where there is time."""
        self._remaining, self._settled = remaining, True
        if self._carefree > 0:
            self._carefree -= 1
            return None
        path = self._ending(remaining)
        if path is None:
            # A token brings the end at most one token closer: what does not fit, hardly will.
            self._carefree, self._pause = self._pause, 2 * self._pause
            return None
        carefree = self._carefree_within(remaining - len(path))
        if carefree is None:
            return path
        self._carefree = carefree
        return None

    @abstractmethod
    def _ending(self, remaining: int) -> tuple[int, ...] | None:
        """A path to an end within ``remaining`` tokens, if one is found; it is ``_path`` then."""

    @abstractmethod
    def _carefree_within(self, slack: int) -> int | None:
        """Tokens for which no end need be looked for, with ``slack`` tokens more than the path to
        one has; None: the very next one has to leave room for it.
        """

    @abstractmethod
    def _careful(self, mask: Mask, path: tuple[int, ...], remaining: int) -> Mask:
        """The next token of ``path``, and those after which the text can still be completed."""

    @abstractmethod
    def _moved(self, token: int) -> None:
        """``token`` has become part of the text."""


def forced_tokens(matcher: llguidance.LLMatcher, most: int) -> list[int]:
    """At most ``most`` tokens of which each is the only one in its mask.

    The library tokenizes the bytes that it forces as the model's tokenizer would, leaves out the
    end of them that later bytes could still change, and has masks of those tokens alone.
    """
    if most < 1 or matcher.is_stopped():
        return []
    return list(matcher.compute_ff_tokens()[:most])


def permitted_tokens(matcher: llguidance.LLMatcher, tokens: Sequence[int]) -> int:
    """How many of the first of ``tokens`` masks would allow one after the other."""
    copy = matcher.deep_copy()
    for count, token in enumerate(tokens):
        if copy.is_stopped():
            return count
        forced = copy.compute_ff_tokens()
        if forced and forced[0] != token:
            return count
        if copy.validate_tokens([token]) < 1 or not copy.consume_token(token):
            return count
    return len(tokens)
