"""Sessions of a device client that lives in this process: the same store, gate and queue as for
sessions that come over the network, without frames.

Everything but :meth:`LocalSessions.begin`'s callbacks runs on the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from split_server.engine.engine import Engine
from split_server.engine.job import Outcome, StepJob
from split_server.engine.model.info import ModelInfo
from split_server.sessions.gate import StepGate
from split_server.sessions.store import Session, SessionStore
from split_wire.attention import AttentionRequest, attention_bytes
from split_wire.errors import ContextOverflow, ShuttingDown, SplitError, StartBeyondCache
from split_wire.session import SessionState
from split_wire.tensor import Tensor


@dataclass(frozen=True, slots=True)
class LocalStep:
    """Keep ``start`` positions, append ``rows`` [n, H] in the compute dtype.

    ``buffered``: answers with attention that may wait for their reader beside this one.
    """

    start: int
    rows: Tensor
    attention: AttentionRequest | None = None
    buffered: int = 0


class LocalSessions:
    """``new_state`` makes the protocol state of a session; ``max_rows``: rows of one step."""

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
        self.max_rows = max_rows
        self.stopping = False

    @property
    def info(self) -> ModelInfo:
        """The model that is served."""
        return self._engine.info

    def open(self, principal: str) -> Session:
        """A new session with an empty cache. Raises TooManySessions, ShuttingDown."""
        if self.stopping:
            raise ShuttingDown
        return self._store.open(principal, self._new_state(), self._engine.info.dtype)

    def close(self, session: Session) -> None:
        """Forget a session; its buffers are free once no step of it runs."""
        self._store.close(session.principal, session.key)

    def begin(
        self,
        session: Session,
        step: LocalStep,
        done: Callable[[Outcome], None],
        wanted: Callable[[], bool],
    ) -> None:
        """Queue one step of ``session``.

        ``done`` is called once on the model thread, with ``Abandoned`` for a step that is no longer
        ``wanted`` when its turn comes. Raises UnknownSession for a session that was given up,
        StartBeyondCache, ContextOverflow, AttentionTooLarge, CacheFull, Overloaded, ShuttingDown;
        ``done`` is then never called.
        """
        if self.stopping:
            raise ShuttingDown
        positions = self._checked(session, step)
        self._gate.enter(session, positions, self._attention_room(step, positions))
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def finished(outcome: Outcome) -> None:
            # Booked before the waiter can ask for the next step. The loop is closed when the
            # server gave the step up on its way out.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._end, session, ended)
            done(outcome)

        job = StepJob(
            session.cache,
            step.start,
            step.rows,
            "last",
            self.info.dtype,
            session.principal,
            step.attention,
        )
        try:
            self._engine.post(job, finished, wanted)
        except SplitError:
            self._gate.leave(session)
            raise
        self._gate.track(ended)

    def _checked(self, session: Session, step: LocalStep) -> int:
        """Positions that the cache holds after ``step``."""
        positions = step.start + step.rows.rows
        if step.start > session.cache.length:
            raise StartBeyondCache(step.start, session.cache.length)
        if positions > self.info.max_context:
            raise ContextOverflow(positions, self.info.max_context)
        return positions

    def _attention_room(self, step: LocalStep, positions: int) -> int:
        """Bytes of the attention that ``step`` asks for, and of what waits beside it."""
        if step.attention is None:
            return 0
        info = self.info
        size = attention_bytes(step.attention, info.num_layers, info.num_heads, positions)
        return (1 + step.buffered) * size

    def _end(self, session: Session, ended: asyncio.Future[None]) -> None:
        self._gate.leave(session)
        if not ended.done():
            ended.set_result(None)
