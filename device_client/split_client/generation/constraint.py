"""What limits a reply to a form, token by token: a grammar, for example."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Constraint(Protocol):
    """The state of one reply. One caller at a time."""

    def allowed(self, remaining: int) -> NDArray[np.bool_] | None:
        """Which tokens may come next, a mask [vocab]; None: every token.

        ``remaining``: how many tokens the reply may still have, this one included (at least 1).
        """

    def accept(self, token: int) -> None:
        """``token`` was chosen from what was allowed."""

    @property
    def finished(self) -> bool:
        """Nothing may follow."""

    def forced(self, remaining: int) -> list[int]:
        """The tokens that come next whatever is chosen, at most ``remaining``; none where the next
        one is a choice. At each of them the mask of :meth:`allowed` has one bit. Does not move.
        """

    def permitted(self, tokens: list[int], remaining: int) -> int:
        """How many of the first of ``tokens`` it would allow one after the other. Does not move.

        A guess that is too high costs a row, one that is too low a round trip; what is chosen goes
        by :meth:`allowed` alone.
        """


class NothingAhead:
    """The part of a constraint that looks ahead, for one that cannot."""

    def forced(self, remaining: int) -> list[int]:  # noqa: ARG002
        """None: every token is taken for a choice."""
        return []

    def permitted(self, tokens: list[int], remaining: int) -> int:  # noqa: ARG002
        """None of them, so there are no drafts under it."""
        return 0
