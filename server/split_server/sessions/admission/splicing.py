"""Splices of sessions: rows are lifted, what is missing between them is computed in turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from split_server.engine.job import EngineResult, Outcome
from split_server.kv.cache import buffered
from split_server.kv.lineage import Moved
from split_server.kv.moving.rotate import KeyRotation
from split_server.kv.moving.scattered import lay_out
from split_server.kv.moving.splice import Lifted, cut, lifted, lifted_bytes, put_down
from split_server.sessions.admission.blends import Blends
from split_server.sessions.admission.request import SpliceRequest, StepRequest
from split_server.sessions.keeping.approximate import ApproximateAudit
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_server.threads import Threads
from split_wire.errors import Unsupported
from split_wire.splice import BLEND, blended, gaps

OUTCOMES = ("done", "failed")
# Each piece between what is moved costs a pass; those of more are computed together, so that a
# message of a thousand spans asks for no more passes than its rows do.
_FEW_PIECES = 8
# What became of positions: they were moved, computed between what was moved and behind it, or
# moved and computed anew since they differed most.
KINDS = ("moved", "computed", "blended")


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
    """``rotation``: moves keys; ``reuse``: keeps what a splice cuts off; ``post``: queues steps;
    ``audit``: turns off what was wrong too often; ``blends``: computes a share of the moved rows
    anew, None where nothing does.

    Lives on the event loop; rows are copied by a thread of its own.
    """

    def __init__(
        self,
        rotation: KeyRotation,
        reuse: Reuse,
        post: Post,
        audit: ApproximateAudit,
        blends: Blends | None = None,
    ) -> None:
        self._rotation = rotation
        self._reuse = reuse
        self._post = post
        self.audit, self._blends = audit, blends
        self._threads = Threads("splice", 1)
        self.outcomes = Counter[str](dict.fromkeys(OUTCOMES, 0))
        self.positions = Counter[str](dict.fromkeys(KINDS, 0))

    def offered(self, session: Session) -> bool:
        """Whether ``session`` takes edits inside a prompt. From any thread."""
        return session.takes == "approximate" and not self.audit.stopped("moved")

    @property
    def blends(self) -> bool:
        """Whether a share of the moved rows is computed anew where that is asked for."""
        return self._blends is not None and not self.audit.stopped("blended")

    def close(self) -> None:
        """End its thread."""
        self._threads.close()

    def request(self, session: Session, edit: SpliceRequest) -> StepRequest:
        """What :meth:`run` is counted in as: the positions that are held afterwards, and memory for
        the rows that are lifted.
        """
        return edit.step(lifted_bytes(buffered(session.cache), edit.spans))

    async def run(
        self, session: Session, edit: SpliceRequest, wanted: Callable[[], bool]
    ) -> EngineResult:
        """Make ``edit``; the hidden state of the last row that is computed, and the times of all
        passes.

        The step was counted in. It raises what steps raise; when it fails before anything was
        changed the cache is as before, else it holds ``start`` positions.
        """
        cache = buffered(session.cache)

        def lift() -> list[Lifted]:
            self._reuse.keep_cut_off(session, edit.start)
            return lifted(cache, edit.spans, self._rotation)

        outcome = "failed"
        try:
            copies = await self._threads.run(lift)
            result = await self._changed(session, edit, copies, wanted)
            outcome = "done"
        finally:
            self.outcomes[outcome] += 1
        self._count(edit)
        return result

    def _count(self, edit: SpliceRequest) -> None:
        anew, kept = blended(edit.blended, edit.blend), sum(span.rows for span in edit.spans)
        self.positions["moved"] += kept - anew
        self.positions["blended"] += anew
        self.positions["computed"] += edit.missing
        self._reuse.spliced(kept - anew)

    async def _changed(
        self,
        session: Session,
        edit: SpliceRequest,
        copies: list[Lifted],
        wanted: Callable[[], bool],
    ) -> EngineResult:
        """What is missing is computed, too; when it fails, ``start`` positions are held."""
        start = edit.start
        try:
            if edit.blend or (self._blends is not None and _pieces(edit) > _FEW_PIECES):
                return await self._together(session, edit, copies, wanted)
            return await self._filled(session, edit, copies, wanted)
        except BaseException:
            session.cache.truncate(start)
            raise
        finally:
            session.published = min(session.published, start)
            session.guessed_at = None

    async def _together(
        self,
        session: Session,
        edit: SpliceRequest,
        copies: list[Lifted],
        wanted: Callable[[], bool],
    ) -> EngineResult:
        blends, cache = self._blends, buffered(session.cache)
        if blends is None:
            raise Unsupported(BLEND)
        way: Moved = "blended" if edit.blend else "moved"
        await self._threads.run(lambda: lay_out(cache, edit.start, copies, edit.missing, way))
        return await blends.filled(session, cache, edit, wanted)

    async def _filled(
        self,
        session: Session,
        edit: SpliceRequest,
        copies: list[Lifted],
        wanted: Callable[[], bool],
    ) -> EngineResult:
        cache, start, spans, rows = buffered(session.cache), edit.start, edit.spans, edit.rows
        end, passes = edit.end, list[EngineResult]()
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


def _pieces(edit: SpliceRequest) -> int:
    """How many runs of rows ``edit`` brings."""
    return sum(first < last for first, last in gaps(edit.start, edit.spans, edit.rows.rows))
