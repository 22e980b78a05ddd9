"""Steps of framed sessions: admitted once, begun once there is memory, booked whoever waits."""

from __future__ import annotations

import asyncio
from functools import partial

from split_server.engine.job import Outcome
from split_server.sessions.admission.request import SpliceRequest, StepRequest
from split_server.sessions.framed_audits import FramedAudits
from split_server.sessions.session import Framing, Session
from split_server.sessions.step import StepAdmission
from split_server.threads import Threads
from split_wire.codec import encode_message
from split_wire.documents.chunks import CAPABILITY as CHUNKS
from split_wire.documents.chunks import Named, names_of
from split_wire.documents.finding import Find
from split_wire.errors import UnknownSession, Unsupported
from split_wire.messages import Result, Splice, Step
from split_wire.session import Admission, Replay, Run, SessionState, fingerprint
from split_wire.splice import BLEND
from split_wire.splice import CAPABILITY as SPLICE
from split_wire.tiers import Inexact

# Hashing and checking rows above this size would hold up the event loop for milliseconds.
_LARGE_FRAME = 256 * 1024
# So many names are looked up on it in about a tenth of a millisecond.
_FEW_CHUNKS = 16
_THREADS = 2
# Of what is answered: the rows, and the frame that holds them until the next step.
_COPIES = 2


class FramedSteps:
    """A step that was admitted runs to its end even when nobody waits for it any more."""

    def __init__(self, steps: StepAdmission) -> None:
        self._steps = steps
        self.audits = FramedAudits(steps)
        self._threads = Threads("frames", _THREADS)

    def close(self) -> None:
        """End its threads."""
        self._threads.close()

    async def answered(
        self, session: Session, framing: Framing, message: Step, frame: bytes
    ) -> bytes:
        """The reply frame of ``message``, which came as ``frame``. Raises what refuses the step or
        ends it.
        """
        admitting = self._admit(session, framing, message, frame)
        tasks = self._steps.tasks
        if not _takes_long(message, frame):
            outcome = await admitting
        else:
            # The thread that admits cannot be cancelled, and what it admits must be begun.
            outcome = await tasks.result(tasks.start(admitting))
        return outcome if isinstance(outcome, bytes) else await tasks.result(outcome)

    async def _admit(
        self, session: Session, framing: Framing, message: Step, frame: bytes
    ) -> bytes | asyncio.Future[bytes]:
        """The reply that is remembered, or the future of the one that is made.

        Whatever is raised, the session is then as before: an admission that stayed would have the
        same bytes answered with an earlier reply.
        """
        async with framing.lock:
            before = framing.state.running
            try:
                admission = await self._admission(framing.state, message, frame)
                return await self._begun(session, framing, admission)
            except BaseException:
                run = framing.state.running
                if run is not None and run is not before:
                    _give_up(session, framing.state, run)
                raise

    async def _begun(
        self, session: Session, framing: Framing, admission: Admission
    ) -> bytes | asyncio.Future[bytes]:
        if isinstance(admission, Replay):
            return admission.reply
        if isinstance(admission, Run):
            framing.reply = await self._begin(session, framing.state, admission)
        if framing.reply is None:
            raise UnknownSession
        return framing.reply

    async def _admission(self, state: SessionState, message: Step, frame: bytes) -> Admission:
        if not _takes_long(message, frame):
            return state.admit(message, fingerprint(frame))
        return await self._threads.run(lambda: state.admit(message, fingerprint(frame)))

    async def _begin(
        self, session: Session, state: SessionState, run: Run
    ) -> asyncio.Future[bytes]:
        """Queue the admitted step once there is memory for it."""
        if isinstance(run.step, Splice):
            return await self._begin_splice(session, state, run, run.step)
        request = _request(run)
        await self._steps.entered(session, request)
        try:
            await self._steps.recall.fetch(session, request)
            return self._queued(session, state, run, request)
        except BaseException:
            self._steps.leave(session)
            raise

    def splices(self, session: Session) -> bool:
        """Whether ``session`` takes edits inside a prompt."""
        splicing = self._steps.splicing
        return splicing is not None and splicing.offered(session)

    def blends(self, session: Session) -> bool:
        """Whether it computes a share of the rows anew that these keep."""
        splicing = self._steps.splicing
        return splicing is not None and splicing.blends(session) and self.splices(session)

    def finds(self, session: Session) -> bool:
        """Whether ``session`` takes documents that are known."""
        splicing = self._steps.splicing
        return splicing is not None and splicing.finds(session)

    async def found(self, session: Session, asked: Find) -> tuple[int, ...]:
        """The numbers of the chunks that it may take of those that are ``asked`` for. Raises
        Unsupported, Overloaded, ShuttingDown.
        """
        reuse = self._steps.reuse
        if reuse is None or not self.finds(session):
            raise Unsupported(CHUNKS)
        wanted = [*map(Named, asked.chunks, names_of(asked.names))]
        look = partial(reuse.chunks.known, session, wanted)
        return look() if len(wanted) <= _FEW_CHUNKS else await self._threads.run(look)

    async def _begin_splice(
        self, session: Session, state: SessionState, run: Run, splice: Splice
    ) -> asyncio.Future[bytes]:
        """:meth:`_begin` of a step that moves rows."""
        splicing, tasks = self._steps.splicing, self._steps.tasks
        edit = SpliceRequest(
            splice.start,
            splice.spans,
            splice.embeddings,
            splice.blend,
            splice.sources,
            run.chunks,
        )
        if splicing is None or not splicing.takes(session, edit):
            raise Unsupported(CHUNKS if splice.sources else SPLICE)
        if splice.blend and not splicing.blends(session):
            raise Unsupported(BLEND)
        await self._steps.entered(session, splicing.request(session, edit))
        reply: asyncio.Future[bytes] = tasks.future()

        async def work() -> None:
            try:
                outcome: Outcome = await splicing.run(session, edit, lambda: not reply.done())
            # It belongs to those who wait for the reply.
            except Exception as error:  # noqa: BLE001
                outcome = error
            try:
                self._book(session, state, run, reply, outcome)
            finally:
                self._steps.leave(session)

        tasks.start(work())
        return reply

    def _book(
        self,
        session: Session,
        state: SessionState,
        run: Run,
        reply: asyncio.Future[bytes],
        outcome: Outcome,
    ) -> None:
        _book(session, state, run, reply, outcome)
        if not isinstance(outcome, Exception):
            self.audits.ended(session, run.step, outcome)

    def _queued(
        self, session: Session, state: SessionState, run: Run, request: StepRequest
    ) -> asyncio.Future[bytes]:
        """The reply of a step that was counted in."""
        reply: asyncio.Future[bytes] = self._steps.tasks.future()

        def ended(outcome: Outcome) -> None:
            self._book(session, state, run, reply, outcome)

        try:
            self._steps.begin_entered(session, request, ended, wanted=lambda: not reply.done())
        except BaseException:
            reply.cancel()
            raise
        return reply


def _takes_long(message: Step, frame: bytes) -> bool:
    """Whether admitting it would hold up the event loop: a splice names all that it keeps."""
    return len(frame) >= _LARGE_FRAME or isinstance(message, Splice)


def _request(run: Run) -> StepRequest:
    """The step that was admitted, as the engine gets it."""
    step = run.step
    return StepRequest(
        step.start,
        step.embeddings,
        rows=step.rows,
        attention=step.attention,
        copies=_COPIES,
        adapter=step.adapter,
        names=run.digests,
        chunks=run.chunks,
    )


def _book(
    session: Session, state: SessionState, run: Run, reply: asyncio.Future[bytes], outcome: Outcome
) -> None:
    """Book the outcome of a step, whoever still waits for it."""
    try:
        frame = _reply(run, outcome, session.inexact)
    # The outcome belongs to those who wait for the reply.
    except Exception as error:  # noqa: BLE001
        _give_up(session, state, run)
        if not reply.done():
            reply.set_exception(error)
        return
    state.complete(run, frame)
    if not reply.done():
        reply.set_result(frame)


def _give_up(session: Session, state: SessionState, run: Run) -> None:
    state.fail(run, min(session.cache.length, state.cached))


def _reply(run: Run, outcome: Outcome, tiers: Inexact) -> bytes:
    """The frame that answers a step, with what its session holds that is not exact; raises what the
    step raised.
    """
    if isinstance(outcome, Exception):
        raise outcome
    step = run.step
    return encode_message(
        Result(
            session=step.session,
            step=step.step,
            cached=step.end,
            hidden=outcome.hidden,
            compute_us=outcome.compute_us,
            queue_us=outcome.queue_us,
            prefix=run.prefix,
            attention=outcome.attention,
            reused=outcome.reused,
            tiers=tiers,
        )
    )
