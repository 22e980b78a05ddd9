"""The decode loop's interface to a model's middle: one session that takes steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from split_wire.attention import AttentionRequest, AttentionWeights
from split_wire.tensor import WireDtype
from split_wire.tiers import ALL_EXACT, Inexact


class CacheLost(Exception):
    """The backend no longer holds the prefix: send every row again, from start 0."""


class OnlyAllRows(Exception):
    """The backend returns the state of one row or those of all; nothing was sent."""


@dataclass(frozen=True, slots=True)
class StepOutput:
    """``hidden`` float32 [rows, H], the final-norm states of the last rows; times in microseconds.

    ``exchange_us`` is the whole wait for the server, compute and queue included; 0 without one.
    ``attention``: that of the last row, where it was asked for; ``reused``: rows of the step that
    were known already, and not computed; ``tiers``: which positions of the cache are not exact.
    """

    hidden: NDArray[np.float32]
    compute_us: int
    queue_us: int
    exchange_us: int = 0
    attention: AttentionWeights | None = None
    reused: int = 0
    tiers: Inexact = ALL_EXACT


class Rows(Protocol):
    """The rows of a conversation, made when they are asked for."""

    def __len__(self) -> int:
        """How many there are."""

    def part(self, start: int, stop: int) -> NDArray[np.float32]:
        """Some of them, float32 [stop - start, H], rounded as they travel."""


class Backend(Protocol):
    """One session on some server or engine. The attributes are valid once it is open."""

    @property
    def max_rows(self) -> int:
        """Rows that one step may carry."""

    @property
    def max_context(self) -> int:
        """Positions that the session may hold."""

    @property
    def interactive_rows(self) -> int:
        """Rows with which a step still is interactive."""

    @property
    def dtype(self) -> WireDtype:
        """The dtype to which rows are rounded on their way."""

    def open(self, wanted: Rows | None = None) -> int | None:
        """Begin a session; does nothing when one is open.

        How many of the steps that were broken off before went through all the same; None where none
        was, or where the session is a new one. ``wanted``: what a new one may begin with, see
        :meth:`held`.
        """

    def held(self, wanted: Rows, start: int) -> int:
        """How many of the first rows of ``wanted`` the open session holds, of which it holds
        ``start`` for certain; a backend that kept more of them takes them in. Raises CacheLost.
        """

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> StepOutput:
        """Keep ``start`` cached positions and append ``embeddings`` float32 [n, H].

        ``adapter``: the name of one that is applied to the hidden states; the cache does not depend
        on it. ``rows``: of how many of the last rows the states come back, 1..n. Raises CacheLost;
        afterwards a step with start 0 may follow at once; and OnlyAllRows. A backend that cannot
        tell the ``attention`` that is asked for, or has no such adapter, raises, and has then
        appended nothing.
        """

    def close(self) -> object:
        """End the session; never raises for a server that is gone."""
