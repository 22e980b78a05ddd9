"""Splices of sessions: rows are lifted, what is missing between them is computed in turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from split_server.engine.job import EngineResult, Outcome
from split_server.kv.cache import buffered
from split_server.kv.moving.rotate import KeyRotation
from split_server.kv.moving.splice import Lifted, cut, lifted, lifted_bytes, put_down
from split_server.sessions.admission.request import StepRequest
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_server.threads import Threads
from split_wire.splice import Kept, end_of, gaps
from split_wire.tensor import Tensor

OUTCOMES = ("done", "failed")
# What became of positions: they were moved, or computed between what was moved and behind it.
KINDS = ("moved", "computed")


class Post(Protocol):
    """Queues a step of a session that was counted in."""

    def __call__(
        self,
        session: Session,
        request: StepRequest,
        ended: Callable[[Outcome], None],
        *,
        wanted: Callable[[], bool],
    ) -> None:
        """``ended`` is told on the event loop. Raises Overloaded, ShuttingDown, ModelStopped."""


class Splicing:
    """``rotation``: moves keys; ``reuse``: keeps what a splice cuts off; ``post``: queues steps.

    Lives on the event loop; rows are copied by a thread of its own.
    """

    def __init__(self, rotation: KeyRotation, reuse: Reuse, post: Post) -> None:
        self._rotation = rotation
        self._reuse = reuse
        self._post = post
        self._threads = Threads("splice", 1)
        self.outcomes = Counter[str](dict.fromkeys(OUTCOMES, 0))
        self.positions = Counter[str](dict.fromkeys(KINDS, 0))

    def close(self) -> None:
        """End its thread."""
        self._threads.close()

    def request(
        self, session: Session, start: int, spans: Sequence[Kept], rows: Tensor
    ) -> StepRequest:
        """What :meth:`run` is counted in as: the positions that are held afterwards, and memory for
        the rows that are lifted.
        """
        behind = end_of(start, spans, 0)
        aside = lifted_bytes(buffered(session.cache), spans)
        return StepRequest(behind, rows, aside=aside)

    async def run(
        self,
        session: Session,
        start: int,
        spans: Sequence[Kept],
        rows: Tensor,
        wanted: Callable[[], bool],
    ) -> EngineResult:
        """Keep ``start`` positions and ``spans`` at their new places, fill up with ``rows``; the
        hidden state of the last row, and the times of all passes.

        The step was counted in. It raises what steps raise; when it fails before anything was
        changed the cache is as before, else it holds ``start`` positions.
        """
        cache = buffered(session.cache)

        def lift() -> list[Lifted]:
            self._reuse.keep_cut_off(session, start)
            return lifted(cache, spans, self._rotation)

        outcome = "failed"
        try:
            copies = await self._threads.run(lift)
            result = await self._changed(session, start, copies, rows, wanted)
            outcome = "done"
        finally:
            self.outcomes[outcome] += 1
        moved = end_of(start, spans, 0) - start
        self.positions["moved"] += moved
        self.positions["computed"] += rows.rows
        self._reuse.spliced(moved)
        return result

    async def _changed(
        self,
        session: Session,
        start: int,
        copies: list[Lifted],
        rows: Tensor,
        wanted: Callable[[], bool],
    ) -> EngineResult:
        """:meth:`_filled`; when it fails, ``start`` positions are held."""
        try:
            return await self._filled(session, start, copies, rows, wanted)
        except BaseException:
            session.cache.truncate(start)
            raise
        finally:
            session.published = min(session.published, start)
            session.guessed_at = None

    async def _filled(
        self,
        session: Session,
        start: int,
        copies: list[Lifted],
        rows: Tensor,
        wanted: Callable[[], bool],
    ) -> EngineResult:
        cache, spans = buffered(session.cache), [copy.span for copy in copies]
        end, passes = end_of(start, spans, rows.rows), list[EngineResult]()
        # Nothing of what lies behind is needed any more.
        cut(cache, start, end)
        for index, (first, last) in enumerate(gaps(start, spans, rows.rows)):
            if first < last:
                request = StepRequest(cache.length, rows.part(first, last))
                passes.append(await self._computed(session, request, wanted))
            if index < len(copies):
                copy = copies[index]
                await self._threads.run(lambda copy=copy: put_down(cache, copy, end))  # type: ignore[misc]
        return replace(
            passes[-1],
            compute_us=sum(each.compute_us for each in passes),
            queue_us=sum(each.queue_us for each in passes),
        )

    async def _computed(
        self, session: Session, request: StepRequest, wanted: Callable[[], bool]
    ) -> EngineResult:
        ended: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def told(outcome: Outcome) -> None:
            if not ended.done():
                ended.set_result(outcome)

        self._post(session, request, told, wanted=wanted)
        outcome = await ended
        if isinstance(outcome, Exception):
            raise outcome
        return outcome
