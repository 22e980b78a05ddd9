"""Steps into the engine's queue, and what their ends change: audits, what is kept, the chain."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from split_server.engine.engine import Engine
from split_server.engine.job import Outcome, StepJob
from split_server.engine.model.delta import Delta
from split_server.sessions.admission.request import StepRequest
from split_server.sessions.admission.rows import StepRows
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_server.sessions.tasks import LastingTasks
from split_wire.errors import ModelStopped


class Posting:
    """``tasks``: what stopping waits for; ``reuse``: None where nothing is kept."""

    def __init__(self, engine: Engine, tasks: LastingTasks, reuse: Reuse | None) -> None:
        self._engine = engine
        self._tasks = tasks
        self._reuse = reuse

    def post(
        self,
        session: Session,
        request: StepRequest,
        adapter: Delta | None,
        ended: Callable[[Outcome], None],
        done: Callable[[Outcome], None],
        wanted: Callable[[], bool],
    ) -> None:
        """Queue a step with ``adapter``. Raises Overloaded, ShuttingDown, ModelStopped.

        ``done`` is told on the model thread, ``ended`` on the event loop; with ``Abandoned`` of a
        step that is no longer ``wanted`` when its turn comes.
        """
        loop = asyncio.get_running_loop()
        job = self._job(session, request, adapter)
        answered: asyncio.Future[None] = self._tasks.future()

        def settled(outcome: Outcome) -> None:
            try:
                ended(outcome)
            finally:
                if not answered.done():
                    answered.set_result(None)

        def told(outcome: Outcome) -> None:
            # Queued before whoever waits can ask for the next step. The loop is closed when the
            # server gave the step up on its way out.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settled, outcome)
            done(outcome)

        def finished(outcome: Outcome) -> None:
            try:
                self._audited(session, request, outcome)
                self._publish(session, request, outcome)
                _chain(session, request, outcome)
            except BaseException:
                told(ModelStopped())
                raise
            told(outcome)

        try:
            # Last of all: nothing may fail once the step is queued.
            self._engine.post(job, finished, wanted)
        except BaseException:
            answered.cancel()
            raise

    def _job(self, session: Session, request: StepRequest, adapter: Delta | None) -> StepJob:
        return StepJob(
            cache=session.cache,
            start=request.start,
            embeddings=request.embeddings,
            rows=request.rows,
            dtype=session.dtype,
            principal=session.principal,
            attention=request.attention,
            adapter=adapter,
            shared=self._shared(session, request),
        )

    def _shared(self, session: Session, request: StepRequest) -> StepRows | None:
        """What the step and others may have of each other."""
        reuse, names = self._reuse, request.names
        if reuse is None or names is None or not session.finds or session.cache.lineage.moved:
            return None
        returned, guessed = request.returned, self._guessed(request)
        return StepRows(reuse, session, request.start, names, returned, guessed)

    def _guessed(self, request: StepRequest) -> int:
        return request.guessed(self._engine.info.interactive_rows)

    def _audited(self, session: Session, request: StepRequest, outcome: Outcome) -> None:
        if self._reuse is not None and self._reuse.audit is not None:
            succeeded = not isinstance(outcome, Exception)
            self._reuse.audit.settle(session, request.start, succeeded=succeeded)

    def _publish(self, session: Session, request: StepRequest, outcome: Outcome) -> None:
        if self._reuse is None or request.names is None:
            return
        if isinstance(outcome, Exception):
            # Of what was given to others before it failed, the session holds nothing any more.
            session.published = min(session.published, request.start)
            session.guessed_at = None
            return
        self._reuse.publish(session, request.start, request.names, self._guessed(request))
        if request.chunks:
            self._reuse.chunks.publish(session, request.chunks)


def _chain(session: Session, request: StepRequest, outcome: Outcome) -> None:
    """Have the chain follow the cache, on the thread that has just changed the cache."""
    if request.digests is None:
        return
    if isinstance(outcome, Exception):
        session.fall_back()
    else:
        session.advance(request.start, request.digests)
