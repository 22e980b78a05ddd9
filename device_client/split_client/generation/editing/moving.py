"""Rows that a session keeps at other places: whose they are, and what that took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from split_client.generation.backend import Backend
from split_client.generation.editing.plan import LAST
from split_client.generation.held import Held

# Rows of some tokens from one position to another.
RowsOf = Callable[[list[int], int, int], NDArray[np.float32]]
# Where the last question in a prompt begins.
Question = Callable[[list[int]], int]


class Blends(Protocol):
    """A backend that may keep rows at other places."""

    @property
    def blends(self) -> bool:
        """Whether it computes a share of them anew."""


Able = TypeVar("Able", bound=Blends)


@dataclass(frozen=True, slots=True)
class Moved:
    """``positions`` were kept at other places, for which ``rows`` were computed; times in seconds.
    ``refused``: edits that the server refused, whose rows are then computed as any are.
    ``documents`` of the positions are those of documents that were known, between which ``plain``
    rows were computed as any are.
    """

    positions: int = 0
    rows: int = 0
    exchange: float = 0.0
    compute: float = 0.0
    queue: float = 0.0
    refused: int = 0
    documents: int = 0
    plain: int = 0

    def __add__(self, other: Moved) -> Moved:
        """Both, one after the other."""
        return Moved(
            self.positions + other.positions,
            self.rows + other.rows,
            self.exchange + other.exchange,
            self.compute + other.compute,
            self.queue + other.queue,
            self.refused + other.refused,
            self.documents + other.documents,
            self.plain + other.plain,
        )


def last_rows(tokens: list[int]) -> int:
    """The question where nothing says where it begins."""
    return len(tokens) - LAST


class Moving(Generic[Able]):
    """Of the session of ``backend``, whose tokens ``held`` has; ``able``: the same, where it may
    keep rows at other places. ``rows`` gives those of tokens, None where they depend on more.

    ``question``: where what is asked begins, ``allowed``: whether rows may move, and ``blend``: the
    share of them that is to be computed anew, may be set at any time.
    """

    def __init__(
        self,
        backend: Backend,
        able: Able | None,
        held: Held,
        rows: RowsOf | None,
        clock: Callable[[], float],
    ) -> None:
        self._session = backend
        self._backend = able if rows is not None else None
        self._held, self._rows, self._clock = held, rows, clock
        self.question: Question = last_rows
        self.allowed: Callable[[], bool] = lambda: True
        self.blend = 0.0

    @property
    def _blend(self) -> float:
        """The share of kept rows that is computed anew."""
        return self.blend if self._backend is not None and self._backend.blends else 0.0
