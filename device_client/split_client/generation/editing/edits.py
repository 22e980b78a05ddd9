"""Has a session keep what lies behind an edit of its prompt."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from split_client.errors import ServerRefused
from split_client.generation.backend import Backend, CacheLost, StepOutput
from split_client.generation.editing.moving import Moved, Moving, RowsOf
from split_client.generation.editing.plan import Edit, planned
from split_client.generation.held import Held
from split_wire.errors import InternalError
from split_wire.splice import Kept, blended


@runtime_checkable
class Splices(Protocol):
    """A backend that may keep rows at other positions than those that they were computed for."""

    @property
    def splices(self) -> bool:
        """Whether the open session does."""

    @property
    def blends(self) -> bool:
        """Whether it computes a share of those rows anew, those that an edit changed most."""

    def splice(
        self,
        start: int,
        spans: tuple[Kept, ...],
        embeddings: NDArray[np.float32],
        blend: float = 0.0,
    ) -> StepOutput:
        """Keep ``start`` positions and ``spans`` at their new places; ``embeddings`` [n, H] come
        between them and behind, or with a ``blend``, the share that is computed anew, are those of
        all positions behind ``start``. Raises CacheLost, ServerRefused.
        """


class Edits(Moving[Splices]):
    """Of the session of ``backend``, whose tokens ``held`` has; ``rows`` gives their rows, None
    where they depend on more than their tokens.

    ``question`` may be set at any time, and so may ``allowed``: whether rows may move, and
    ``blend``: the share of them that is to be computed anew (CacheBlend, Yao et al. 2024,
    https://arxiv.org/abs/2405.16444), for which all rows travel.
    """

    def __init__(
        self,
        backend: Backend,
        held: Held,
        rows: RowsOf | None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        able = backend if isinstance(backend, Splices) else None
        super().__init__(backend, able, held, rows, clock)

    def reusable(self, tokens: list[int]) -> int:
        """Positions that :meth:`make` would keep at other places, as far as is known now."""
        return sum(edit.moves for edit in self._planned(tokens))

    def make(self, tokens: list[int]) -> Moved:
        """Have the session hold a beginning of ``tokens`` with what it has of them behind an edit;
        nothing happens where there is none, or it does not pay. Raises CacheLost.
        """
        edits = self._planned(tokens)
        moved, began = Moved(), self._clock()
        for edit in edits:
            anew = blended(edit.settled, self._blend)
            try:
                output = self._carry_out(edit, tokens)
            except ServerRefused as refused:
                self._held.keep(tokens[: edit.start])
                if refused.code == InternalError.code:
                    raise CacheLost from refused
                return Moved(refused=1)
            moved = Moved(
                moved.positions + edit.moves - anew,
                moved.rows + edit.brings + anew,
                self._clock() - began,
                moved.compute + output.compute_us / 1e6,
                moved.queue + output.queue_us / 1e6,
            )
        return moved

    def _planned(self, tokens: list[int]) -> list[Edit]:
        backend = self._backend
        if backend is None or not self._held.tokens or not backend.splices:
            return []
        if not self.allowed():
            return []
        held = self._held.tokens
        if held == tokens[: len(held)]:
            return []
        question = self.question(tokens)
        session = self._session
        most, context = session.max_rows, session.max_context
        return planned(held, tokens, question, most, context, whole=self._blend > 0)

    def _carry_out(self, edit: Edit, tokens: list[int]) -> StepOutput:
        backend, rows = self._backend, self._rows
        if backend is None or rows is None:
            raise RuntimeError("nothing is moved here")
        self._held.cut_back(edit.start)
        blend = self._blend
        parts = (range(edit.start, edit.reach),) if blend else edit.rows
        brought = np.concatenate([rows(tokens, part.start, part.stop) for part in parts])
        self._held.begin(edit.start, edit.tokens[edit.start :], edit.spans[0].new)
        output = backend.splice(edit.start, edit.spans, brought, blend)
        self._held.done()
        return output
