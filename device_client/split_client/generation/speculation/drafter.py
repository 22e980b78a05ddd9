"""Sources of drafts and the length that pays, put together for one chat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from split_client.generation.speculation.drafts import (
    NO_DRAFT,
    Draft,
    DraftSource,
    Remembering,
    StepCost,
)
from split_client.generation.speculation.given import Given
from split_client.generation.speculation.length import AdaptiveLength, DraftLength, FixedLength
from split_client.generation.speculation.suffix import Suffix

# Steps of more rows are prefills, which say little about what a row costs beside a token.
_MOST_ROWS = 64
# Guesses that are not sent are compared with so many tokens.
_COMPARED = 16

Permitted = Callable[[list[int]], int]


@dataclass(frozen=True, slots=True)
class _Guesses:
    """What was guessed after ``length`` tokens, the last of them ``last``, and the one sent."""

    length: int
    last: int
    drafts: tuple[Draft, ...]
    sent: Draft


class Drafter:
    """``sources`` in the order in which they are preferred where they promise the same.

    ``memo``: the one among them that remembers replies. One caller at a time. Nothing here decides
    a token: a wrong draft costs time, and no more.
    """

    def __init__(
        self,
        sources: Sequence[DraftSource],
        length: DraftLength,
        memo: Remembering | None = None,
    ) -> None:
        self._sources = list(sources)
        self._length = length
        self._memo = memo
        self._given: Given | None = None
        self._guesses: _Guesses | None = None
        self._cost: StepCost | None = None

    @classmethod
    def of_chat(cls, memo: Remembering | None = None, fixed: int | None = None) -> Drafter:
        """Drafts from the chat and, where there is one, from ``memo``, which others may share;
        ``fixed``: always so many tokens, in place of what pays.
        """
        sources: list[DraftSource] = [Suffix()] if memo is None else [Suffix(), memo]
        return cls(sources, AdaptiveLength() if fixed is None else FixedLength(fixed), memo)

    def expect(self, tokens: Sequence[int] | None) -> None:
        """The next reply is thought to be ``tokens``, but for differences; None: nothing is known
        of it.
        """
        self._given = Given(tokens) if tokens else None

    def draft(self, tokens: list[int], most: int, permitted: Permitted | None = None) -> Draft:
        """A guess of at most ``most`` tokens after ``tokens``, cut to what pays and to what
        ``permitted`` says of it; empty where none pays.
        """
        self._compare(tokens)
        drafts = self._guessed(tokens, max(most, 1))
        sent = self._best(drafts, most)
        if sent.tokens and permitted is not None:
            sent = sent.first(permitted(list(sent.tokens)))
        sent = sent if sent.tokens else NO_DRAFT
        last = tokens[-1] if tokens else -1
        self._guesses = _Guesses(len(tokens), last, tuple(drafts), sent)
        return sent

    def stepped(self, cost: StepCost) -> None:
        """A step ended, whether it carried a draft or not."""
        if cost.rows <= _MOST_ROWS:
            self._length.stepped(cost)
            self._cost = cost

    def judged(self, draft: Draft, accepted: int) -> None:
        """Of the tokens of ``draft`` so many were chosen."""
        self._length.judged(draft, accepted, self._cost)
        self._cost = None

    def head(self, seconds: float) -> None:
        """The device chose from one state."""
        self._length.head(seconds)

    def replied(self, prompt: Sequence[int], reply: Sequence[int]) -> None:
        """A reply has ended, and may be remembered."""
        self._guesses = self._given = None
        if self._memo is not None:
            self._memo.replied(prompt, reply)

    def forget(self) -> None:
        """Hold nothing of any chat any more."""
        self._guesses = self._given = None
        for source in self._sources:
            source.forget()

    def _guessed(self, tokens: list[int], most: int) -> list[Draft]:
        sources = self._sources if self._given is None else [self._given, *self._sources]
        drafts = []
        for source in sources:
            source.follow(tokens)
            draft = source.draft(most)
            if draft is not None:
                drafts.append(draft)
        return drafts

    def _best(self, drafts: list[Draft], most: int) -> Draft:
        best, seconds = NO_DRAFT, 0.0
        for draft in drafts:
            if not self._length.asked(draft.source) or most < 1:
                continue
            choice = self._length.choose(draft)
            if choice.count and (not best.tokens or choice.seconds < seconds):
                best, seconds = draft.first(choice.count), choice.seconds
        return best

    def _compare(self, tokens: list[int]) -> None:
        """Learn from what was guessed and not sent."""
        guesses, self._guesses = self._guesses, None
        if guesses is None or not 0 < guesses.length < len(tokens):
            return
        if tokens[guesses.length - 1] != guesses.last:
            return
        chosen = tokens[guesses.length : guesses.length + _COMPARED]
        for draft in guesses.drafts:
            if (draft.source, draft.match) == (guesses.sent.source, guesses.sent.match):
                continue
            compared = min(len(chosen), len(draft.tokens))
            right = 0
            while right < compared and draft.tokens[right] == chosen[right]:
                right += 1
            self._length.seen(draft, right, wrong=right < compared)
