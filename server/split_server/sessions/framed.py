"""Split inference as a service without sockets: frames in, frames out, over the session store and
the engine.

Everything here runs on the event loop; the model runs on the engine's thread. A step that was
admitted runs to its end even when nobody waits for it any more, so that the same step, sent again
after a lost connection, is answered from memory.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from split_server.engine.engine import Engine
from split_server.engine.job import Outcome, StepJob
from split_server.engine.model.delta import Delta
from split_server.engine.model.info import ModelInfo
from split_server.engine.observer import StepObserver
from split_server.error_reports import note_error
from split_server.internal_error import internal_error
from split_server.original.sessions import Appended, NamedSessions
from split_server.sessions.gate import StepGate
from split_server.sessions.in_process import LocalSessions
from split_server.sessions.store import Session, SessionStore
from split_wire.attention import CAPABILITY, attention_bytes
from split_wire.errors import (
    ModelChanged,
    ShuttingDown,
    SplitError,
    UnknownAdapter,
    UnknownSession,
    UnsupportedVersion,
)
from split_wire.limits import frame_limit
from split_wire.messages import (
    DEFAULT_MAX_ROWS,
    VERSION,
    ClientMessage,
    Close,
    Closed,
    Failure,
    Open,
    Opened,
    Ping,
    Pong,
    Result,
    Step,
    decode_client_message,
    encode_message,
)
from split_wire.session import Admission, Replay, Run, SessionState, fingerprint
from split_wire.tensor import Tensor

# Hashing and checking rows above this size would hold up the event loop for milliseconds.
_LARGE_FRAME = 256 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """The frame to send back; ``error`` is what it reports, None when all went well."""

    frame: bytes
    error: SplitError | None = None


class SplitService:
    """``manifest``: its digest; ``max_queued``: steps that one principal may have under way;
    ``adapters``: those that a step may name.
    """

    def __init__(
        self,
        engine: Engine,
        store: SessionStore,
        manifest: str,
        max_queued: int = 32,
        max_rows: int = DEFAULT_MAX_ROWS,
        adapters: Mapping[str, Delta] = MappingProxyType({}),
    ) -> None:
        self._engine = engine
        self._adapters = dict(adapters)
        self._store = store
        self._manifest = manifest
        self._max_rows = max_rows
        self._gate = StepGate(store, max_queued)
        self._named = NamedSessions(engine, store, self._gate, self._new_state, max_rows)
        self.local = LocalSessions(engine, store, self._gate, self._new_state, max_rows)
        self._stopping = False
        self.max_frame_bytes = frame_limit(engine.info.hidden_size, max_rows)

    @property
    def info(self) -> ModelInfo:
        """The model that is served."""
        return self._engine.info

    @property
    def store(self) -> SessionStore:
        """The sessions of all principals."""
        return self._store

    def observe(self, observer: StepObserver) -> None:
        """Have ``observer`` told of the engine's work; before :meth:`start`."""
        self._engine.observer = observer

    def start(self) -> None:
        """Start the model thread."""
        self._engine.start()

    async def stop(self) -> None:
        """Refuse new messages, answer the steps that were admitted, end the model thread."""
        self._stopping = self.local.stopping = True
        await self._gate.drain()
        await self._engine.stop()

    async def handle(self, principal: str, frame: bytes) -> Answer:
        """Answer one ``split.v1`` frame; a refusal is an answer too."""
        session: str | None = None
        step: int | None = None
        try:
            message = decode_client_message(frame, self.max_frame_bytes)
            if isinstance(message, Step):
                session, step = message.session, message.step
            return Answer(await self._dispatch(principal, message, frame))
        except SplitError as refusal:
            error = refusal
        # The boundary of a message: one failed step must not end the socket it came on.
        except Exception:  # noqa: BLE001
            error = internal_error()
        note_error(error.code, "frame")
        return Answer(encode_message(Failure.of(error, session, step)), error)

    async def _dispatch(self, principal: str, message: ClientMessage, frame: bytes) -> bytes:
        if self._stopping:
            raise ShuttingDown
        match message:
            case Open():
                return encode_message(self._open(principal, message))
            case Step():
                return await self._step(principal, message, frame)
            case Close():
                self._close(principal, message.session)
                return encode_message(Closed(message.session))
            case Ping():
                return encode_message(Pong())

    def _open(self, principal: str, message: Open) -> Opened:
        if message.version != VERSION:
            raise UnsupportedVersion(message.version, VERSION)
        if message.manifest not in (None, self._manifest):
            raise ModelChanged
        dtype = message.dtype or self.info.dtype
        session = self._store.open(principal, self._new_state(), dtype)
        info = self.info
        return Opened(
            session.key,
            self._manifest,
            dtype,
            self._max_rows,
            info.max_context,
            capabilities=(CAPABILITY,),
            layers=info.num_layers,
            heads=info.num_heads,
        )

    def _close(self, principal: str, session_id: str) -> None:
        """Forget a session; a step of it that is under way is given up."""
        with contextlib.suppress(UnknownSession):
            session = self._store.get(principal, session_id)
            if session.reply is not None and not session.reply.done():
                session.reply.set_exception(UnknownSession())
            self._store.close(principal, session_id)

    def _new_state(self) -> SessionState:
        info = self.info
        return SessionState(self._manifest, info.hidden_size, self._max_rows, info.max_context)

    async def _step(self, principal: str, message: Step, frame: bytes) -> bytes:
        self._adapter(message.adapter)
        session = self._store.get(principal, message.session)
        admitting = self._admit(session, message, frame)
        if len(frame) < _LARGE_FRAME:
            outcome = await admitting
        else:
            # The thread that admits cannot be cancelled, and what it admits must be begun.
            outcome = await self._gate.result(self._gate.start(admitting))
        return outcome if isinstance(outcome, bytes) else await self._gate.result(outcome)

    async def _admit(
        self, session: Session, message: Step, frame: bytes
    ) -> bytes | asyncio.Future[bytes]:
        """The reply that is remembered, or the future of the one that is made."""
        async with session.lock:
            admission = await self._admission(session, message, frame)
            if isinstance(admission, Replay):
                return admission.reply
            if isinstance(admission, Run):
                session.reply = self._begin(session, admission)
            if session.reply is None:
                raise UnknownSession
            return session.reply

    async def _admission(self, session: Session, message: Step, frame: bytes) -> Admission:
        if len(frame) < _LARGE_FRAME:
            return session.state.admit(message, fingerprint(frame))
        return await asyncio.to_thread(lambda: session.state.admit(message, fingerprint(frame)))

    def _begin(self, session: Session, run: Run) -> asyncio.Future[bytes]:
        """Queue the admitted step; on a refusal the session is as before."""
        step, loop = run.step, asyncio.get_running_loop()
        reply: asyncio.Future[bytes] = loop.create_future()
        job = StepJob(
            session.cache,
            step.start,
            step.embeddings,
            step.rows,
            session.dtype,
            session.principal,
            step.attention,
            self._adapter(step.adapter),
        )

        def done(outcome: Outcome) -> None:
            # The loop is closed when the server gave the step up on its way out.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._finish, session, run, reply, outcome)

        try:
            room = self._attention_room(step)
            self._gate.enter(session, step.start + step.embeddings.rows, room)
        except SplitError:
            session.state.fail(run, session.state.cached)
            raise
        try:
            self._engine.post(job, done, lambda: not reply.done())
        except SplitError:
            self._give_up(session, run)
            raise
        return self._gate.track(reply)

    def _attention_room(self, step: Step) -> int:
        """Bytes of the attention that ``step`` asks for. Raises AttentionTooLarge."""
        if step.attention is None:
            return 0
        positions = step.start + step.embeddings.rows
        info = self.info
        rows = attention_bytes(step.attention, info.num_layers, info.num_heads, positions)
        # The rows, and the frame that holds them until the next step.
        return 2 * rows

    def _finish(
        self, session: Session, run: Run, reply: asyncio.Future[bytes], outcome: Outcome
    ) -> None:
        """Book the outcome of a step, whoever still waits for it."""
        try:
            frame = _reply(run, outcome)
        # The outcome belongs to those who wait for the reply.
        except Exception as error:  # noqa: BLE001
            self._give_up(session, run)
            if not reply.done():
                reply.set_exception(error)
            return
        session.state.complete(run, frame)
        self._gate.leave(session)
        if not reply.done():
            reply.set_result(frame)

    def _give_up(self, session: Session, run: Run) -> None:
        session.state.fail(run, min(session.cache.length, session.state.cached))
        self._gate.leave(session)

    async def append(
        self,
        principal: str,
        name: str,
        embeddings: Tensor,
        incremental: bool,
        adapter: str | None = None,
    ) -> Appended:
        """A step of the original protocol; see :meth:`NamedSessions.append`.

        Raises UnknownAdapter too.
        """
        if self._stopping:
            raise ShuttingDown
        delta = self._adapter(adapter)
        return await self._named.append(principal, name, embeddings, incremental, delta)

    def lose(self, principal: str, name: str) -> None:
        """Give up a session of the original protocol; see :meth:`NamedSessions.lose`."""
        self._named.lose(principal, name)

    def _adapter(self, name: str | None) -> Delta | None:
        """The adapter that a step names. Raises UnknownAdapter."""
        if name is None:
            return None
        if name not in self._adapters:
            raise UnknownAdapter(name)
        return self._adapters[name]


def _reply(run: Run, outcome: Outcome) -> bytes:
    """The frame that answers a step; raises what the step raised."""
    if isinstance(outcome, Exception):
        raise outcome
    step = run.step
    return encode_message(
        Result(
            session=step.session,
            step=step.step,
            cached=step.start + step.embeddings.rows,
            hidden=outcome.hidden,
            compute_us=outcome.compute_us,
            queue_us=outcome.queue_us,
            prefix=run.prefix,
            attention=outcome.attention,
        )
    )
