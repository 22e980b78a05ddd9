"""A reply that does not end before it has so many tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.generation.constraint import Constraint


class LeastTokens:
    """``ends``: the tokens that end a reply, none of which comes before ``least`` others, unless
    ``form`` leaves nothing else; ``rows``: length of a mask.
    """

    def __init__(
        self, form: Constraint | None, ends: frozenset[int], least: int, rows: int
    ) -> None:
        self._form, self._ends = form, sorted(ends)
        self._least, self._rows = least, rows
        self._count = 0

    def allowed(self, remaining: int) -> NDArray[np.bool_] | None:
        """As of the form, without the ends."""
        mask = None if self._form is None else self._form.allowed(remaining)
        if self._count >= self._least:
            return mask
        open_ = np.ones(self._rows, np.bool_) if mask is None else mask.copy()
        open_[self._ends] = False
        return open_ if mask is None or open_.any() else mask

    def accept(self, token: int) -> None:
        """``token`` was chosen."""
        self._count += 1
        if self._form is not None:
            self._form.accept(token)

    @property
    def finished(self) -> bool:
        """Nothing may follow in the form."""
        return self._form is not None and self._form.finished

    def forced(self, remaining: int) -> list[int]:
        """What the form forces."""
        return [] if self._form is None else self._form.forced(remaining)

    def permitted(self, tokens: list[int], remaining: int) -> int:
        """As of the form, up to an end that comes too early."""
        most = len(tokens) if self._form is None else self._form.permitted(tokens, remaining)
        for at, token in enumerate(tokens[: min(most, max(self._least - self._count, 0))]):
            if token in self._ends:
                return at
        return most
