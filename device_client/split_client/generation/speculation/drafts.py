"""Guesses at what follows, and what a step told that carried one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Draft:
    """Tokens that may follow. ``match``: how many tokens before them the guess hangs on; with
    ``source`` the class whose acceptance is counted.
    """

    source: str
    tokens: tuple[int, ...]
    match: int

    def first(self, count: int) -> Draft:
        """Its first ``count`` tokens."""
        return Draft(self.source, self.tokens[:count], self.match)


NO_DRAFT = Draft("none", (), 0)


@dataclass(frozen=True, slots=True)
class StepCost:
    """What a step of ``rows`` took, of which ``returned`` states came back.

    ``seconds``: from before it was sent until its answer was here; of that ``compute`` was the
    server's pass and ``queue`` its queue.
    """

    rows: int
    returned: int
    seconds: float
    compute: float
    queue: float


class DraftSource(Protocol):
    """Where guesses come from."""

    @property
    def name(self) -> str:
        """Of the kind of source."""

    def follow(self, tokens: Sequence[int]) -> None:
        """The chat is exactly ``tokens`` now: what it was and more, or cut back and more."""

    def draft(self, most: int) -> Draft | None:
        """A guess at what follows, of 1 to ``most`` tokens."""

    def forget(self) -> None:
        """Hold nothing of any chat any more."""


class Remembering(DraftSource, Protocol):
    """A source that earlier replies feed."""

    def replied(self, prompt: Sequence[int], reply: Sequence[int]) -> None:
        """Remember ``reply`` to ``prompt``."""
