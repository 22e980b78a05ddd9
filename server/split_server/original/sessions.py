"""Sessions of the original protocol: named by their client, appended to at the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from split_server.engine.engine import Engine
from split_server.engine.job import EngineResult, StepJob
from split_server.engine.model.delta import Delta
from split_server.sessions.gate import StepGate
from split_server.sessions.store import Session, SessionStore
from split_wire.errors import (
    ContextOverflow,
    Overloaded,
    SplitError,
    UnknownSession,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.messages import Rows
from split_wire.session import SessionState
from split_wire.tensor import Tensor

_T = TypeVar("_T")


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


class NamedSessions:
    """Finds or opens a session by its client's name and appends to it.

    ``new_state`` makes the protocol state of a session; ``max_rows``: rows of one engine step.
    """

    def __init__(
        self,
        engine: Engine,
        store: SessionStore,
        gate: StepGate,
        new_state: Callable[[], SessionState],
        max_rows: int,
    ) -> None:
        self._engine = engine
        self._store = store
        self._gate = gate
        self._new_state = new_state
        self._max_rows = max_rows

    async def append(
        self,
        principal: str,
        name: str,
        embeddings: Tensor,
        incremental: bool,
        adapter: Delta | None = None,
    ) -> Appended:
        """The original protocol's step: append ``embeddings`` [n, H] to the session called
        ``name``.

        Not incremental: the session starts anew and every row is returned; incremental: the last
        row. ``adapter`` is applied to what is returned.

        Raises UnknownSession for a session that was held and lost, Overloaded while another
        step of it is under way.
        """
        self._check_shape(embeddings)
        await self._off_loop(embeddings.rows, embeddings.require_finite)
        session, known = self._named_session(principal, name, embeddings, incremental)
        cached = session.cache.length
        try:
            self._gate.enter(session, cached + embeddings.rows)
        except SplitError:
            if not known:
                self._store.lose(session)
            raise
        task = self._gate.start(self._slices(session, cached, embeddings, known, adapter))
        results = await self._gate.result(task)
        hidden = await self._off_loop(embeddings.rows, lambda: _joined(results))
        compute = sum(result.compute_us for result in results)
        return Appended(
            hidden[-1:] if known else hidden, cached, known, compute, results[0].queue_us
        )

    def lose(self, principal: str, name: str) -> None:
        """What was appended to the session cannot be answered: it must not be continued."""
        with contextlib.suppress(UnknownSession):
            session = self._store.find_named(principal, name)
            if session is not None:
                self._store.lose(session)

    def _named_session(
        self, principal: str, name: str, embeddings: Tensor, incremental: bool
    ) -> tuple[Session, bool]:
        session = self._store.find_named(principal, name) if incremental else None
        cached = 0 if session is None else session.cache.length
        if cached + embeddings.rows > self._engine.info.max_context:
            raise ContextOverflow(cached + embeddings.rows, self._engine.info.max_context)
        if session is None:
            return self._store.open(principal, self._new_state(), "f32", name), False
        if session.running:
            raise Overloaded("a step of this session is under way")
        return session, True

    def _check_shape(self, embeddings: Tensor) -> None:
        if embeddings.width != self._engine.info.hidden_size:
            raise WrongHiddenSize(embeddings.width, self._engine.info.hidden_size)
        if embeddings.rows < 1:
            raise WrongShape(embeddings.shape, "at least one row")

    async def _off_loop(self, rows: int, work: Callable[[], _T]) -> _T:
        """``work`` on a thread when it goes over more rows than one step has."""
        return await asyncio.to_thread(work) if rows > self._max_rows else work()

    async def _slices(
        self,
        session: Session,
        cached: int,
        embeddings: Tensor,
        known: bool,
        adapter: Delta | None,
    ) -> list[EngineResult]:
        wanted: Rows = "last" if known else "all"
        results = []
        try:
            for first in range(0, embeddings.rows, self._max_rows):
                rows = _row_slice(embeddings, first, first + self._max_rows)
                job = StepJob(
                    session.cache,
                    cached + first,
                    rows,
                    wanted,
                    "f32",
                    session.principal,
                    adapter=adapter,
                )
                results.append(await asyncio.wrap_future(self._engine.submit(job)))
        except BaseException:
            # Half a prompt must not be continued as if it were whole.
            self._store.lose(session)
            raise
        else:
            return results
        finally:
            self._gate.leave(session)


def _joined(results: list[EngineResult]) -> NDArray[np.float32]:
    """The hidden states of all slices, [n, H]."""
    return np.concatenate([result.hidden.to_f32() for result in results])


def _row_slice(tensor: Tensor, first: int, last: int) -> Tensor:
    """Rows ``first`` to ``last`` of an f32 tensor."""
    width = 4 * tensor.width
    data = memoryview(tensor.data)[first * width : last * width]
    return Tensor("f32", (len(data) // width, tensor.width), data)
