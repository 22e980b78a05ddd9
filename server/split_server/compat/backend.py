"""The decode loop's backend without a network: a device client that lives beside the engine.

Whoever runs the loop here holds the text; nothing is split between two machines.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from split_client.errors import Cancelled, ServerRefused
from split_client.generation.backend import CacheLost, Rows, StepOutput
from split_server.compat.keeping import USUAL, Keeping
from split_server.engine.job import Abandoned, EngineResult, Outcome
from split_server.kv.lineage import Moved
from split_server.sessions.admission.request import SpliceRequest, StepRequest
from split_server.sessions.in_process import InProcessSessions, SessionReuse
from split_server.sessions.session import Session
from split_wire.attention import AttentionRequest, weights_of
from split_wire.documents.chunks import Begun, Chunk, Named, named
from split_wire.errors import (
    CacheFull,
    ChunkGone,
    ContextOverflow,
    Overloaded,
    ShuttingDown,
    StartBeyondCache,
    UnknownAdapter,
    UnknownSession,
    Unsupported,
)
from split_wire.splice import Kept, pieces
from split_wire.tensor import Tensor, WireDtype

# How soon it is noticed that nobody waits any more for a session.
_LOOK_SECONDS = 0.1
# Answers with attention that may wait for their reader.
BUFFERED = 3


class EngineBackend:
    """One session of ``principal``; implements ``generation.backend.Backend``. ``keeping``:
    what becomes of its keys and values.

    Its methods block, so they are called on threads other than that of ``loop``, on which the
    sessions live. Setting ``cancelled`` has a step that waits for its turn dropped.
    """

    def __init__(
        self,
        sessions: InProcessSessions,
        loop: asyncio.AbstractEventLoop,
        principal: str,
        cancelled: threading.Event | None = None,
        reuse: SessionReuse = "exact",
        keeping: Keeping = USUAL,
    ) -> None:
        self._sessions = sessions
        self._loop = loop
        self._principal = principal
        self._reuse: SessionReuse = "off" if keeping.cache == "off" else reuse
        self._keeping = keeping
        self.cancelled = cancelled or threading.Event()
        self._session: Session | None = None
        # Those of the text that is sent, and the one that was sent in part.
        self.chunks: tuple[Chunk, ...] = ()
        self._begun: Begun | None = None

    @property
    def max_rows(self) -> int:
        """Rows that one step may carry."""
        return self._sessions.max_rows

    @property
    def max_context(self) -> int:
        """Positions that the session may hold."""
        return self._sessions.info.max_context

    @property
    def interactive_rows(self) -> int:
        """Rows with which a step still is interactive."""
        return self._sessions.info.interactive_rows

    @property
    def dtype(self) -> WireDtype:
        """The engine's compute dtype."""
        return self._sessions.info.dtype

    def alone(self) -> bool:
        """Whether nobody but this session waits for the model or decodes."""
        return self._sessions.alone(self._session)

    def pass_seconds(self, rows: int) -> float:
        """What a pass with ``rows`` rows of decoding takes, 0 while that is not known."""
        return self._sessions.pass_seconds(rows)

    def open(self, wanted: Rows | None = None) -> None:  # noqa: ARG002
        """Begin a session; does nothing when one is open. Raises TooManySessions, ShuttingDown."""
        self._opened()

    def held(self, wanted: Rows, start: int) -> int:  # noqa: ARG002
        """``start``: what is known of rows beyond it is taken in when they come; nothing is saved
        by asking before.
        """
        return start

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> StepOutput:
        """Keep ``start`` positions, append ``embeddings`` [n, H]; states of the last ``rows``.

        Raises CacheLost when the session was given up for another one, Cancelled, ContextOverflow,
        AttentionTooLarge, CacheFull, Overloaded, ShuttingDown, NonFinite and HiddenOverflow;
        UnknownAdapter for any ``adapter``: texts on the server are the base model's.
        """
        if adapter is not None:
            raise UnknownAdapter(adapter)
        session = self._opened()
        sent = Tensor.from_f32(embeddings, self.dtype)
        try:
            chunks, begun = self._named([(start, sent)])
            request = self._sessions.request(
                session, start, sent, attention, BUFFERED, rows, chunks
            )
            result = self._result(session, request)
            self._begun = begun
        except (UnknownSession, StartBeyondCache):
            self._session = None
            raise CacheLost from None
        except Abandoned:
            raise Cancelled from None
        return _output(session, result)

    @property
    def ways(self) -> frozenset[Moved]:
        """How rows of the open session came where they were not computed."""
        return frozenset() if self._session is None else self._session.cache.lineage.ways

    @property
    def splices(self) -> bool:
        """Whether the open session keeps rows at other positions."""
        session = self._session
        return session is not None and self._sessions.splices(session)

    @property
    def blends(self) -> bool:
        """Whether it has those of them computed anew that an edit changed most."""
        return self._session is not None and self._sessions.blends(self._session)

    @property
    def finds(self) -> bool:
        """Whether the open session takes documents that are known."""
        return self._session is not None and self._sessions.finds(self._session)

    def find(self, wanted: Sequence[Named]) -> tuple[int, ...]:
        """The numbers of those of the ``wanted`` chunks that the open session may take."""
        return () if self._session is None else self._sessions.known(self._session, wanted)

    def drop_chunks(self) -> None:
        """Have the documents found no more that the open session took."""
        if self._session is not None:
            self._sessions.drop_chunks(self._session)

    def splice(
        self,
        start: int,
        spans: tuple[Kept, ...],
        embeddings: NDArray[np.float32],
        blend: float = 0.0,
        sources: bytes = b"",
    ) -> StepOutput:
        """Keep ``start`` positions and ``spans`` at their new places; ``embeddings`` [n, H] come
        between them and behind, or with a ``blend`` are those of all positions behind ``start``.
        ``sources``: the names of the chunks that have the spans, in place of the session.
        Raises CacheLost, Cancelled, ServerRefused where there is no room for it, and as
        :meth:`step`.
        """
        session, sent = self._opened(), Tensor.from_f32(embeddings, self.dtype)
        try:
            chunks, begun = self._named(pieces(start, spans, sent, blend))
            edit = SpliceRequest(start, spans, sent, blend, sources, chunks)
            digests = self._sessions.spliced(session, edit)
            result = self._finished(self._sessions.splice(session, edit, digests, self._wanted))
            self._begun = begun
        except (UnknownSession, StartBeyondCache):
            self._session = None
            raise CacheLost from None
        except Abandoned:
            raise Cancelled from None
        except (CacheFull, ChunkGone, ContextOverflow, Overloaded, Unsupported) as error:
            raise ServerRefused(error.code, str(error)) from error
        return _output(session, result)

    def _named(self, rows: list[tuple[int, Tensor]]) -> tuple[tuple[Named, ...], Begun | None]:
        """The chunks that end in ``rows``, by the position of the first of each run, and the one
        that they end within.
        """
        begun, self._begun = self._begun, None
        if not self.finds:
            return (), None
        found, left = named(begun, rows, self.chunks)
        return tuple(found), left

    def rest(self) -> None:
        """Let the session make way at once, if it must. On the event loop."""
        if self._session is not None:
            self._sessions.rest(self._session)

    def close(self) -> None:
        """End the session; its buffers go to the next one."""
        session, self._session = self._session, None
        if session is not None:
            # A loop that is closed has taken its sessions with it.
            try:
                self._loop.call_soon_threadsafe(self._sessions.close, session)
            except RuntimeError:
                return

    def _opened(self) -> Session:
        if self._session is None:
            kept = self._keeping
            opening = self._sessions.opened(
                self._principal,
                kept.salt,
                self._reuse,
                kept.to_disk,
                "exact" if kept.cache == "off" else kept.cache,
                (kept.group, kept.until),
            )
            self._session = self._awaited(opening)
        return self._session

    def _awaited(self, opening: Coroutine[Any, Any, Session]) -> Session:
        """What ``opening`` returns or raises on the event loop. Raises Cancelled."""
        made: list[Session] = []
        left = threading.Event()

        async def kept() -> Session:
            session = await opening
            if left.is_set():
                self._sessions.close(session)
            else:
                made.append(session)
            return session

        def give_up() -> None:
            # Whichever comes first on the loop, this or the session: nobody takes it any more.
            left.set()
            for session in made:
                self._sessions.close(session)

        waiting = kept()
        try:
            answer = asyncio.run_coroutine_threadsafe(waiting, self._loop)
        except RuntimeError:
            waiting.close()
            opening.close()
            raise ShuttingDown from None
        while not self.cancelled.is_set():
            with suppress(FutureTimeout):
                return answer.result(_LOOK_SECONDS)
        answer.cancel()
        self._call(give_up)
        raise Cancelled

    def _wanted(self) -> bool:
        return not self.cancelled.is_set()

    def _finished(self, work: Coroutine[Any, Any, EngineResult]) -> EngineResult:
        """What ``work`` on the event loop returns or raises, which ends when it is cancelled."""
        try:
            answer = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise ShuttingDown from None
        return answer.result()

    def _result(self, session: Session, request: StepRequest) -> EngineResult:
        answer: Future[EngineResult] = Future()

        def done(outcome: Outcome) -> None:
            if isinstance(outcome, Exception):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)

        def begun() -> None:
            try:
                waits = self._sessions.waits(session, request)
                begin = self._sessions.begin_later if waits else self._sessions.begin
                begin(session, request, done, self._wanted)
            # Whatever it is belongs to the thread that waits for the answer.
            except Exception as error:  # noqa: BLE001
                answer.set_exception(error)

        self._call(begun)
        return answer.result()

    def _call(self, work: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(work)
        except RuntimeError:
            raise ShuttingDown from None


def _output(session: Session, result: EngineResult) -> StepOutput:
    return StepOutput(
        result.hidden.to_f32(),
        result.compute_us,
        result.queue_us,
        attention=None if result.attention is None else weights_of(result.attention),
        reused=result.reused,
        tiers=session.inexact,
    )
