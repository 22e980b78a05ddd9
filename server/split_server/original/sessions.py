"""Sessions of the original protocol: named by their client, appended to at the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from split_server.engine.job import EngineResult, Outcome
from split_server.engine.model.info import ModelInfo
from split_server.original.revivals import Revivals
from split_server.sessions.admission.request import StepRequest
from split_server.sessions.session import Session
from split_server.sessions.step import StepAdmission
from split_server.threads import Threads
from split_wire.errors import Overloaded, UnknownSession, WrongHiddenSize, WrongShape
from split_wire.tensor import Tensor

_T = TypeVar("_T")
# At 3 microseconds a row, the event loop has no use for a thread below this.
_ROWS_HASHED_AT_ONCE = 16
_THREADS = 2


@dataclass(frozen=True, slots=True)
class Appended:
    """``hidden`` float32 [n or 1, H].

    ``cached_before`` positions preceded; times in microseconds.
    """

    hidden: NDArray[np.float32]
    cached_before: int
    incremental: bool
    compute_us: int
    queue_us: int


class OriginalSessions:
    """Finds or opens a session by its client's name and appends to it."""

    def __init__(self, steps: StepAdmission) -> None:
        self._steps = steps
        self._revivals = Revivals(steps)
        self._threads = Threads("original-sessions", _THREADS)

    @property
    def info(self) -> ModelInfo:
        """The model that is served."""
        return self._steps.info

    async def append(
        self,
        principal: str,
        name: str,
        embeddings: Tensor,
        incremental: bool,
        adapter: str | None = None,
    ) -> Appended:
        """The original protocol's step: append ``embeddings`` [n, H] to the session called
        ``name``.

        Not incremental: the session starts anew and every row is returned; incremental: the last
        row. ``adapter`` is applied to what is returned.

        Raises UnknownSession for a session that was held and lost, Overloaded while another
        step of it is under way, and what :meth:`StepAdmission.enter` raises.
        """
        self._steps.require_serving()
        self._steps.adapter(adapter)
        self._check_shape(embeddings)
        await self._off_loop(embeddings.rows, embeddings.require_finite)
        session, known = await self._named_session(principal, name, embeddings, incremental)
        cached = session.cache.length
        whole = StepRequest(cached, embeddings, rows="last" if known else "all", adapter=adapter)
        tasks = self._steps.tasks
        results = await tasks.result(await self._begun(session, whole, known))
        hidden = await self._off_loop(embeddings.rows, lambda: _joined(results))
        compute = sum(result.compute_us for result in results)
        return Appended(
            hidden[-1:] if known else hidden, cached, known, compute, results[0].queue_us
        )

    def lose(self, principal: str, name: str) -> None:
        """Give up a session whose last rows cannot be answered: it must not be continued."""
        store = self._steps.store
        store.lose_parked(principal, name)
        with contextlib.suppress(UnknownSession):
            session = store.find_named(principal, name)
            if session is not None:
                store.lose(session, kept=False)

    def close(self, principal: str, name: str) -> None:
        """Forget the session called ``name``; nothing happens when there is none."""
        self._steps.store.close_named(principal, name)

    def close_threads(self) -> None:
        """End its threads; nothing is appended any more."""
        self._threads.close()

    async def _named_session(
        self, principal: str, name: str, embeddings: Tensor, incremental: bool
    ) -> tuple[Session, bool]:
        session = await self._revivals.found(principal, name) if incremental else None
        cached = 0 if session is None else session.cache.length
        # Before a session is opened, which may cost another one its place.
        self._steps.require_context(cached + embeddings.rows)
        if session is not None:
            if session.running or session.claiming:
                raise Overloaded("a step of this session is under way")
            return session, True
        parked = self._steps.store.parked_named(principal, name)
        if self._steps.store.has_named(principal, name):
            # It takes its own place.
            session = self._steps.opening.open(principal, "f32", name)
        else:
            session = await self._steps.opening.opened(principal, "f32", name=name)
        self._revivals.give_up(parked)
        self._revivals.keep(session)
        return session, False

    def _check_shape(self, embeddings: Tensor) -> None:
        if embeddings.width != self.info.hidden_size:
            raise WrongHiddenSize(embeddings.width, self.info.hidden_size)
        if embeddings.rows < 1:
            raise WrongShape(embeddings.shape, "at least one row")

    async def _off_loop(self, rows: int, work: Callable[[], _T]) -> _T:
        """``work`` on a thread when it goes over more rows than one step has."""
        return await self._threads.run(work) if rows > self._steps.max_rows else work()

    async def _begun(
        self, session: Session, whole: StepRequest, known: bool
    ) -> asyncio.Task[list[EngineResult]]:
        """``whole`` on its way once there is memory; whatever is raised, it is counted nowhere."""
        session.claiming = True
        try:
            await self._steps.entered(session, whole)
        except BaseException:
            if not known:
                self._steps.store.lose(session)
            raise
        finally:
            session.claiming = False
        parts = self._parts(session, whole)
        try:
            return self._steps.tasks.start(parts)
        except BaseException:
            parts.close()
            self._steps.leave(session)
            if not known:
                self._steps.store.lose(session)
            raise

    async def _parts(self, session: Session, whole: StepRequest) -> list[EngineResult]:
        """Results of ``whole`` in steps of as many rows as one may have."""
        results = []
        try:
            for first in range(0, whole.embeddings.rows, self._steps.max_rows):
                rows = _row_slice(whole.embeddings, first, first + self._steps.max_rows)
                digests = await self._following(session, whole.start + first, rows)
                part = replace(whole, start=whole.start + first, embeddings=rows, digests=digests)
                results.append(await self._result(session, part))
        except BaseException:
            # Half a prompt must not be continued as if it were whole.
            self._steps.store.lose(session, kept=False)
            raise
        else:
            return results
        finally:
            self._steps.leave(session)

    async def _following(self, session: Session, start: int, rows: Tensor) -> list[bytes]:
        """The session's chain after each of ``rows``, hashed on a thread where they are many."""
        if rows.rows <= _ROWS_HASHED_AT_ONCE:
            return session.chain.following(start, rows)
        return await self._threads.run(lambda: session.chain.following(start, rows))

    async def _result(self, session: Session, part: StepRequest) -> EngineResult:
        answer: asyncio.Future[EngineResult] = asyncio.get_running_loop().create_future()

        def ended(outcome: Outcome) -> None:
            if answer.done():
                return
            if isinstance(outcome, Exception):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)

        self._steps.post(session, part, ended, wanted=lambda: not answer.cancelled())
        return await answer


def _joined(results: list[EngineResult]) -> NDArray[np.float32]:
    """The hidden states of all slices, [n, H]."""
    return np.concatenate([result.hidden.to_f32() for result in results])


def _row_slice(tensor: Tensor, first: int, last: int) -> Tensor:
    """Rows ``first`` to ``last`` of an f32 tensor."""
    width = 4 * tensor.width
    data = memoryview(tensor.data)[first * width : last * width]
    return Tensor("f32", (len(data) // width, tensor.width), data)
