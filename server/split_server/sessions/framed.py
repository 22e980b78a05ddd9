"""Framed sessions: ``split.v1`` frames in, frames out, without sockets.

Everything here runs on the event loop; the model runs on the engine's thread. A step that was
admitted runs to its end even when nobody waits for it any more, so that the same step, sent again
after a lost connection, is answered from memory.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from split_server.error_reports import report_error
from split_server.internal_error import internal_error
from split_server.sessions.framed_spans import FramedSpans
from split_server.sessions.framed_steps import FramedSteps
from split_server.sessions.session import Framing, Session
from split_server.sessions.step import StepAdmission
from split_wire.attention import CAPABILITY, LAYERS_CAPABILITY
from split_wire.codec import decode_client_message, encode_message
from split_wire.documents.chunks import CAPABILITY as CHUNKS
from split_wire.documents.finding import Find, Found
from split_wire.errors import (
    ModelChanged,
    SplitError,
    UnknownSession,
    Unsupported,
    UnsupportedVersion,
)
from split_wire.hiding.seeing import Hide, Show
from split_wire.hiding.spans import CAPABILITY as SPANS
from split_wire.limits import frame_limit
from split_wire.messages import (
    VERSION,
    ClientMessage,
    Close,
    Closed,
    Failure,
    Open,
    Opened,
    Ping,
    Pong,
    Restore,
    Restored,
    Splice,
    Step,
)
from split_wire.probe import CAPABILITY as RESTORE
from split_wire.returned import CAPABILITY as ROWS
from split_wire.session import SessionState
from split_wire.splice import BLEND
from split_wire.splice import CAPABILITY as SPLICE


@dataclass(frozen=True, slots=True)
class Answer:
    """The frame to send back; ``error`` is what it reports, None when all went well."""

    frame: bytes
    error: SplitError | None = None


class FramedSessions:
    """Sessions whose steps come as ``split.v1`` frames, over whatever carries them.

    ``replica``: what devices are told of which server it is, None for an only one.
    """

    def __init__(self, steps: StepAdmission, replica: str | None = None) -> None:
        self._steps, self._replica = steps, replica
        self._framed_steps = FramedSteps(steps)
        self._framed_spans = FramedSpans(steps)
        self.max_frame_bytes = frame_limit(steps.info.hidden_size, steps.max_rows)

    def close(self) -> None:
        """End its threads."""
        self._framed_steps.close()

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
        report_error(error.code, "frame")
        return Answer(encode_message(Failure.of(error, session, step)), error)

    async def _dispatch(self, principal: str, message: ClientMessage, frame: bytes) -> bytes:
        self._steps.require_serving()
        match message:
            case Open():
                return encode_message(await self._open(principal, message))
            case Step():
                return await self._step(principal, message, frame)
            case Restore():
                tasks = self._steps.tasks
                # What is copied meanwhile must be booked, also when nobody waits any more.
                restored = await tasks.result(tasks.start(self._restore(principal, message)))
                return encode_message(restored)
            case Hide() | Show():
                tasks = self._steps.tasks
                session, framing = self._get(principal, message.session)
                changing = self._framed_spans.changed(session, framing, message)
                # What is copied meanwhile must be booked, also when nobody waits any more.
                return encode_message(await tasks.result(tasks.start(changing)))
            case Find():
                return encode_message(await self._found(principal, message))
            case Close(keep=True):
                self._close(principal, message.session)
                return encode_message(Closed(message.session))
            case Close():
                tasks = self._steps.tasks
                # What was begun is deleted, also when nobody waits any more.
                await tasks.result(tasks.start(self._erase(principal, message)))
                return encode_message(Closed(message.session))
            case Ping():
                return encode_message(Pong())

    async def _open(self, principal: str, message: Open) -> Opened:
        info, manifest = self._steps.info, self._steps.manifest
        if message.version != VERSION:
            raise UnsupportedVersion(message.version, VERSION)
        if message.manifest not in (None, manifest):
            raise ModelChanged
        dtype = message.dtype or info.dtype
        share = self._steps.groups.share(principal, message.cache_group, message.share_until)

        def prepare(session: Session) -> None:
            self._frame(session)
            if message.cache != "off":
                self._steps.recall.keep(session, message.cache_salt, share, message.cache)

        opening = self._steps.opening
        patience = opening.patience_of(wait=message.wait)
        session = await opening.opened(principal, dtype, prepare, patience=patience)
        try:
            if message.probe is not None:
                tasks = self._steps.tasks
                restoring = self._steps.recall.restored(session, 0, message.probe)
                await tasks.result(tasks.start(restoring))
            self._framed_steps.audits.opened(session)
            return self._told(session)
        # Nobody would ever know its id.
        except BaseException:
            self._steps.store.close(principal, session.key)
            raise

    def _frame(self, session: Session) -> None:
        """Have the steps of ``session`` come in frames."""
        info = self._steps.info
        limits = (info.hidden_size, self._steps.max_rows, info.max_context)
        session.framing = Framing(SessionState(session.chain, *limits))

    def _told(self, session: Session) -> Opened:
        """What the client of ``session`` is told."""
        info, cached = self._steps.info, len(session.chain)
        return Opened(
            session.key,
            self._steps.manifest,
            session.dtype,
            self._steps.max_rows,
            info.max_context,
            capabilities=self._capabilities(session),
            layers=info.num_layers,
            heads=info.num_heads,
            cached=cached,
            prefix=session.chain.at(cached) if cached else b"",
            interactive_rows=info.interactive_rows,
            tiers=session.inexact,
            replica=self._replica,
            streamed=info.streamed,
        )

    def _capabilities(self, session: Session) -> tuple[str, ...]:
        offered = {
            RESTORE: self._steps.reuse is not None,
            SPLICE: self._framed_steps.splices(session),
            BLEND: self._framed_steps.blends(session),
            CHUNKS: self._framed_steps.finds(session),
            SPANS: self._steps.seeing.offered,
        }
        found = (name for name, there in offered.items() if there)
        return (CAPABILITY, LAYERS_CAPABILITY, ROWS, *found)

    def _get(self, principal: str, session_id: str) -> tuple[Session, Framing]:
        """Raises UnknownSession, also for a session that takes no frames."""
        session = self._steps.store.get(principal, session_id)
        if session.framing is None:
            raise UnknownSession
        return session, session.framing

    async def _restore(self, principal: str, message: Restore) -> Restored:
        """Have a session hold as much of what its device is about to send as is known."""
        session, framing = self._get(principal, message.session)
        async with framing.lock:
            held, before = framing.state.found(message), framing.state.cached
            if session.cache.hidden:
                # What is hidden behind it is not known to the device any more.
                held = message.start
            cached = await self._steps.recall.restored(session, held, message.probe)
            if cached > held or framing.state.cached != before:
                framing.state.replaced()
            return Restored(
                message.session,
                message.start,
                message.probe.known,
                cached,
                session.chain.at(cached),
                session.inexact.within(len(session.chain), cached),
            )

    def _close(self, principal: str, session_id: str) -> None:
        """Forget a session; a step of it that is under way is given up."""
        with contextlib.suppress(UnknownSession):
            self._abandon(principal, session_id)
            self._steps.store.close(principal, session_id)

    async def _erase(self, principal: str, message: Close) -> None:
        """:meth:`_close`, and delete all that is kept of it. Raises UnknownSession."""
        session = self._abandon(principal, message.session)
        if self._steps.reuse is not None:
            names = self._steps.reuse.chunks.names(session, message.chunks)
            session.traces.add_last_chunks(names)
        await self._steps.recall.erase(session)

    async def _found(self, principal: str, message: Find) -> Found:
        """Which chunks a session may take. Raises UnknownSession, Unsupported, Overloaded,
        ShuttingDown.
        """
        session = self._get(principal, message.session)[0]
        return Found(session.key, await self._framed_steps.found(session, message))

    def _abandon(self, principal: str, session_id: str) -> Session:
        """The session, whose step nobody waits for any more. Raises UnknownSession."""
        session, framing = self._get(principal, session_id)
        if framing.reply is not None and not framing.reply.done():
            framing.reply.set_exception(UnknownSession())
        return session

    async def _step(self, principal: str, message: Step, frame: bytes) -> bytes:
        self._steps.adapter(message.adapter)
        session, framing = self._get(principal, message.session)
        if isinstance(message, Splice):
            self._require_splice(session, message)
        return await self._framed_steps.answered(session, framing, message, frame)

    def _require_splice(self, session: Session, message: Splice) -> None:
        """Raise Unsupported where ``session`` takes no such edit."""
        steps = self._framed_steps
        if not (steps.finds(session) if message.sources else steps.splices(session)):
            raise Unsupported(CHUNKS if message.sources else SPLICE)
