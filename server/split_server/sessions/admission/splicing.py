"""Splices of sessions: rows are lifted, what is missing between them is computed in turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

from split_server.engine.job import EngineResult, Outcome
from split_server.kv.cache import buffered
from split_server.kv.moving.rotate import KeyRotation
from split_server.kv.moving.scattered import lay_out
from split_server.kv.moving.splice import (
    Lifted,
    cut,
    lifted,
    lifted_bytes,
    lifted_from,
    put_down,
)
from split_server.kv.run import Span
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
# moved and computed anew since they differed most, or are those of documents that were known.
KINDS = ("moved", "computed", "blended", "documents")


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
        stopped = self.audit.stopped("moved", session.principal)
        return session.takes == "approximate" and not stopped

    def blends(self, session: Session) -> bool:
        """Whether a share of the moved rows of ``session`` is computed anew where that is asked
        for. From any thread.
        """
        stopped = self.audit.stopped("blended", session.principal)
        return self._blends is not None and not stopped

    def finds(self, session: Session) -> bool:
        """Whether ``session`` takes documents that are known. From any thread."""
        kept = session.takes == "approximate" and session.names is not None
        return kept and not self.audit.stopped("documents", session.principal)

    def takes(self, session: Session, edit: SpliceRequest) -> bool:
        """Whether ``session`` takes ``edit``, but for its blend. From any thread."""
        return self.finds(session) if edit.sources else self.offered(session)

    def close(self) -> None:
        """End its thread."""
        self._threads.close()

    def request(self, session: Session, edit: SpliceRequest) -> StepRequest:
        """What :meth:`run` is counted in as: the positions that are held afterwards, and memory for
        the rows that are lifted. Raises ChunkGone.
        """
        if edit.sources:
            return edit.step(self._reuse.chunks.size(session, edit.spans, edit.sources))
        return edit.step(lifted_bytes(buffered(session.cache), edit.spans))

    async def run(
        self, session: Session, edit: SpliceRequest, wanted: Callable[[], bool]
    ) -> EngineResult:
        """Make ``edit``; the hidden state of the last row that is computed, and the times of all
        passes.

        The step was counted in. It raises what steps raise; when it fails before anything was
        changed the cache is as before, else it holds ``start`` positions.
        """
        chunks, outcome, held = self._reuse.chunks, "failed", list[Span]()
        try:
            if edit.sources:
                held = chunks.hold(session, edit.spans, edit.sources)
            copies = await self._threads.run(lambda: self._lifted(session, edit, held))
            result = await self._changed(session, edit, copies, wanted)
            if edit.chunks:
                await self._threads.run(lambda: chunks.publish(session, edit.chunks))
            outcome = "done"
        finally:
            chunks.let_go(held)
            self.outcomes[outcome] += 1
        self._count(edit)
        return result

    def _lifted(self, session: Session, edit: SpliceRequest, held: list[Span]) -> list[Lifted]:
        """Copies of the rows that are moved, of chunks that are ``held`` or of the session."""
        self._reuse.keep_cut_off(session, edit.start)
        if not edit.sources:
            return lifted(buffered(session.cache), edit.spans, self._rotation)
        runs = [span.run for span in held]
        return lifted_from(runs, edit.spans, self._rotation, self._rotation.device)

    def _count(self, edit: SpliceRequest) -> None:
        anew, kept = blended(edit.blended, edit.blend), sum(span.rows for span in edit.spans)
        self.positions["documents" if edit.sources else "moved"] += kept - anew
        self.positions["blended"] += anew
        self.positions["computed"] += edit.missing
        self._reuse.spliced(kept - anew, "documents" if edit.sources else "spliced")

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
        await self._threads.run(lambda: lay_out(cache, edit.start, copies, edit.missing, edit.way))
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
                put = partial(put_down, cache, copies[index], end, edit.way)
                await self._threads.run(put)
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
