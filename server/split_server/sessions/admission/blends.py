"""Edits whose rows are computed together, wherever they lie, and with a share of the moved rows:
those that they change most.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar

import torch

from split_server.engine.errand import Errand
from split_server.engine.job import Abandoned, EngineResult
from split_server.engine.model.blending import Blending
from split_server.kv.cache import KVCache
from split_server.sessions.admission.request import SpliceRequest
from split_server.sessions.session import Session
from split_wire.splice import blended, gaps
from split_wire.tensor import Tensor

_T = TypeVar("_T")
# A pass to find out which rows differ goes through the first layer of many.
_LOOKED_AT = 8


class Send(Protocol):
    """Queues an errand of the model's thread. Raises Overloaded, ShuttingDown, ModelStopped."""

    def __call__(self, errand: Errand, /) -> None: ...


class Blends:
    """``blending`` computes, on the model's thread, to which ``send`` sends errands. Lives on the
    event loop.
    """

    def __init__(self, blending: Blending, send: Send) -> None:
        self._blending, self._send = blending, send
        # Between two passes of steps comes the work of one edit, however many there are.
        self._turn = asyncio.Lock()

    async def filled(
        self, session: Session, cache: KVCache, edit: SpliceRequest, wanted: Callable[[], bool]
    ) -> EngineResult:
        """Have ``cache``, in which the spans of ``edit`` are at their new places, hold what is
        missing there, and with a blend the rows anew that differ most; the state of the last row
        that is computed. Raises Abandoned, and as a step.
        """
        began, seconds = time.perf_counter(), [0.0]

        async def on_model(work: Callable[[int], _T]) -> _T:
            if not wanted():
                raise Abandoned
            async with self._turn:
                return await self._done(work, seconds)

        rows = await on_model(lambda _: self._blending.load(edit.rows))
        if edit.blend:
            off = list[torch.Tensor]()
            while (at := sum(map(len, off))) < len(rows):
                off.append(await on_model(partial(self._looked, cache, edit, rows, at)))
            anew = positions_anew(edit, torch.cat(off))
            rows = rows[torch.tensor(anew, device=rows.device) - edit.start]
        else:
            anew = positions_brought(edit)
        done, state = 0, edit.rows
        while done < len(anew):
            part = partial(self._computed, session, cache, edit, rows[done:], anew[done:])
            count, state = await on_model(part)
            done += count
        waited = time.perf_counter() - began - seconds[0]
        return EngineResult(state, round(1e6 * seconds[0]), round(1e6 * max(0.0, waited)))

    def _looked(
        self, cache: KVCache, edit: SpliceRequest, rows: torch.Tensor, at: int, most: int
    ) -> torch.Tensor:
        count = self._blending.at_once(min(_LOOKED_AT * most, len(rows) - at), edit.end)
        return self._blending.deviations(cache, edit.start + at, rows[at : at + count])

    def _computed(
        self,
        session: Session,
        cache: KVCache,
        edit: SpliceRequest,
        rows: torch.Tensor,
        anew: list[int],
        most: int,
    ) -> tuple[int, Tensor]:
        """How many of the positions ``anew``, which have ``rows``, were computed, and the state of
        the last of them.
        """
        count = self._blending.at_once(min(most, len(anew)), edit.end)
        computed = self._blending.computed(cache, anew[:count], rows[:count], session.dtype)
        return count, computed

    async def _done(self, work: Callable[[int], _T], seconds: list[float]) -> _T:
        """What ``work`` returns or raises on the model's thread, the time of which is added."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()

        def tell(error: Exception | None, found: _T | None, took: float) -> None:
            seconds[0] += took
            if answer.done():
                return
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(found)  # type: ignore[arg-type]

        def told(error: Exception | None, found: _T | None = None, took: float = 0.0) -> None:
            try:
                loop.call_soon_threadsafe(tell, error, found, took)
            # The loop is closed when the server gave this up on its way out.
            except RuntimeError:
                return

        def run(most: int) -> None:
            began = time.perf_counter()
            try:
                found = work(most)
            # Whatever it is belongs to the edit; the thread serves others.
            except Exception as error:  # noqa: BLE001
                told(error)
            else:
                told(None, found, time.perf_counter() - began)

        self._send(Errand(run, told))
        return await answer


def positions_anew(edit: SpliceRequest, off: torch.Tensor) -> list[int]:
    """Which positions behind the start of ``edit`` are computed, ascending: those that it brings,
    and of those that it keeps the share that is furthest ``off`` [n], the first of equal ones.
    """
    kept = torch.zeros(len(off), dtype=torch.bool)
    for span in edit.blended:
        kept[span.new - edit.start : span.new - edit.start + span.rows] = True
    where = kept.nonzero()[:, 0]
    order = torch.sort(off[where], descending=True, stable=True).indices
    kept[where[order[: blended(edit.blended, edit.blend)]]] = False
    return [edit.start + each for each in (~kept).nonzero()[:, 0].tolist()]


def positions_brought(edit: SpliceRequest) -> list[int]:
    """Those of the rows of ``edit``, which has no blend."""
    found, position = list[int](), edit.start
    parts = gaps(edit.start, edit.spans, edit.rows.rows)
    for (first, last), span in zip(parts, [*edit.spans, None], strict=True):
        found += range(position, position + last - first)
        position = 0 if span is None else span.new + span.rows
    return found
