"""Sessions of a device client that lives in this process: steps without frames."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from split_server.engine.job import EngineResult, Outcome
from split_server.engine.model.info import ModelInfo
from split_server.sessions.admission.request import SpliceRequest, StepRequest
from split_server.sessions.keeping.approximate import ApproximateAudit
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_server.sessions.step import StepAdmission
from split_wire.attention import AttentionRequest
from split_wire.documents.chunks import CAPABILITY as CHUNKS
from split_wire.documents.chunks import Named
from split_wire.errors import StartBeyondCache, Unsupported
from split_wire.probe import Probe
from split_wire.splice import CAPABILITY as SPLICE
from split_wire.splice import spliced
from split_wire.tensor import Tensor
from split_wire.tiers import Tier

# Seconds for which a request waits for a session, or for memory: its client has nothing yet that
# it could ask for again, and nobody else waits because of it.
_PATIENCE = 120.0


# ``unaudited``: nothing of what is known is computed all the same.
SessionReuse: TypeAlias = Literal["exact", "unaudited", "off"]


class InProcessSessions:
    """Lives on the event loop, but for :meth:`request`."""

    def __init__(self, steps: StepAdmission) -> None:
        self._steps = steps

    @property
    def info(self) -> ModelInfo:
        """The model that is served."""
        return self._steps.info

    @property
    def max_rows(self) -> int:
        """Rows of one step."""
        return self._steps.max_rows

    @property
    def reuse(self) -> Reuse | None:
        """What keeps keys and values for later sessions."""
        return self._steps.reuse

    @property
    def approximate(self) -> ApproximateAudit | None:
        """What approximate replies are audited by; None where there are none."""
        return None if self._steps.splicing is None else self._steps.splicing.audit

    def alone(self, session: Session | None) -> bool:
        """Whether nobody but ``session`` waits for the model or decodes. Any thread may ask."""
        return self._steps.alone(session)

    def pass_seconds(self, rows: int) -> float:
        """What a pass with ``rows`` rows of decoding takes, 0 while that is not known. Any thread
        may ask.
        """
        return self._steps.pass_seconds(rows)

    @property
    def manifest(self) -> str:
        """The digest with which chains begin."""
        return self._steps.manifest

    def require_share(self, principal: str, group: str | None) -> None:
        """Raise UnknownCacheGroup where ``principal`` is not of the ``group``, if it names one."""
        self._steps.groups.share(principal, group, 0)

    async def opened(
        self,
        principal: str,
        salt: str | None = None,
        reuse: SessionReuse = "exact",
        to_disk: bool = True,
        takes: Tier = "exact",
        share: tuple[str | None, int] = (None, 0),
    ) -> Session:
        """A new session with an empty cache, once there is a place; what it computes is kept for
        those of the same ``salt``, if ``to_disk`` on disk as well, in no worse tier than it
        ``takes``. ``share``: a group of principals
        and how many positions its members find, too.

        Raises UnknownCacheGroup, TooManySessions, ShuttingDown.
        """
        shared = self._steps.groups.share(principal, *share)

        def prepare(session: Session) -> None:
            session.audited, session.to_disk = reuse == "exact", to_disk
            if reuse != "off":
                self._steps.recall.keep(session, salt, shared, takes)

        return await self._steps.opening.opened(
            principal, self.info.dtype, prepare, patience=_PATIENCE
        )

    async def restored(self, session: Session, start: int, probe: Probe) -> int:
        """Positions that ``session`` holds after what is known of ``probe`` was taken in behind
        ``start``. Raises UnknownSession, Overloaded, ShuttingDown.
        """
        self._steps.require_serving()
        restoring = self._steps.recall.restored(session, start, probe)
        # Whoever leaves must not interrupt a copy.
        return await self._steps.tasks.result(self._steps.tasks.start(restoring))

    async def parked(self) -> None:
        """Wait until what sessions left so far is kept."""
        reuse = self._steps.reuse
        if reuse is not None and reuse.parking:
            await asyncio.wait([*reuse.parking])

    def rest(self, session: Session) -> None:
        """Let ``session`` make way at once: nobody goes on with it for now."""
        self._steps.store.rest(session)

    def close(self, session: Session) -> None:
        """Forget a session; its buffers are free once no step of it runs."""
        self._steps.store.close(session.principal, session.key)

    def request(
        self,
        session: Session,
        start: int,
        rows: Tensor,
        attention: AttentionRequest | None = None,
        buffered: int = 0,
        returned: int = 1,
        chunks: tuple[Named, ...] = (),
    ) -> StepRequest:
        """The step that keeps ``start`` positions and appends ``rows`` [n, H] in the session's
        dtype, hashed here: on the thread of whoever makes the session's steps, one at a time.

        ``buffered``: answers with attention that may wait for their reader beside this one;
        ``returned``: states of how many of the last rows are answered; ``chunks``: those that end
        in them. Raises StartBeyondCache.
        """
        if start > len(session.chain):
            raise StartBeyondCache(start, len(session.chain))
        digests = session.chain.following(start, rows)
        return StepRequest(
            start,
            rows,
            digests,
            "last" if returned == 1 else returned,
            attention=attention,
            copies=1 + buffered,
            names=digests,
            chunks=chunks,
        )

    def begin(
        self,
        session: Session,
        request: StepRequest,
        done: Callable[[Outcome], None],
        wanted: Callable[[], bool],
    ) -> None:
        """Queue one step of ``session``.

        ``done`` is called once on the model thread, with ``Abandoned`` for a step that is no longer
        ``wanted`` when its turn comes. Raises ShuttingDown and what :meth:`StepAdmission.begin`
        raises; ``done`` is then never called.
        """
        self._steps.require_serving()
        self._steps.store.use(session)
        self._steps.begin(session, request, lambda _: None, done=done, wanted=wanted)

    def splices(self, session: Session) -> bool:
        """Whether ``session`` keeps rows at other positions than those that they were computed for.
        Any thread may ask.
        """
        splicing = self._steps.splicing
        return splicing is not None and splicing.offered(session)

    def blends(self, session: Session) -> bool:
        """Whether a share of those rows is computed anew where that is asked for."""
        return self._steps.splicing is not None and self._steps.splicing.blends(session)

    def finds(self, session: Session) -> bool:
        """Whether ``session`` takes documents that are known. Any thread may ask."""
        return self._steps.splicing is not None and self._steps.splicing.finds(session)

    def known(self, session: Session, wanted: Sequence[Named]) -> tuple[int, ...]:
        """The numbers of those of the ``wanted`` chunks that ``session`` may take. Any thread may
        ask.
        """
        return () if self.reuse is None else self.reuse.chunks.known(session, wanted)

    def drop_chunks(self, session: Session) -> None:
        """Have those found no more that ``session`` took. From any thread."""
        if self.reuse is not None:
            self.reuse.chunks.drop(session)

    def spliced(self, session: Session, edit: SpliceRequest) -> list[bytes]:
        """The names of all positions behind its ``start`` after ``edit``. Any thread may ask, the
        session having no step under way. Raises StartBeyondCache.
        """
        own = 0 if edit.sources else edit.spans[-1].old + edit.spans[-1].rows
        last = max(edit.start, own)
        if last > len(session.chain):
            raise StartBeyondCache(last, len(session.chain))
        chain, rows = session.chain, edit.rows
        return spliced(chain, edit.start, edit.spans, rows, edit.blend, edit.sources)

    async def splice(
        self,
        session: Session,
        edit: SpliceRequest,
        digests: list[bytes],
        wanted: Callable[[], bool],
    ) -> EngineResult:
        """Make ``edit`` in ``session``; what follows its ``start`` is then named by ``digests``.

        Raises Unsupported, ShuttingDown, Abandoned and what a step raises; what comes before the
        first span is then held all the same.
        """
        work = self._spliced(session, edit, digests, wanted)
        # Whoever leaves must not interrupt a copy.
        return await self._steps.tasks.result(self._steps.tasks.start(work))

    async def _spliced(
        self,
        session: Session,
        edit: SpliceRequest,
        digests: list[bytes],
        wanted: Callable[[], bool],
    ) -> EngineResult:
        steps, splicing = self._steps, self._steps.splicing
        if splicing is None or not splicing.takes(session, edit):
            raise Unsupported(CHUNKS if edit.sources else SPLICE)
        steps.require_serving()
        steps.store.use(session)
        await steps.entered(session, splicing.request(session, edit), wanted, _PATIENCE)
        try:
            result = await splicing.run(session, edit, wanted)
            session.advance(edit.start, digests)
        except BaseException:
            session.fall_back()
            raise
        finally:
            steps.leave(session)
        return result

    def waits(self, session: Session, request: StepRequest) -> bool:
        """Whether the step may have to wait: for memory, or for what the disk has of its rows.
        Raises AttentionTooLarge.
        """
        steps = self._steps
        return steps.waits(session, request) or steps.recall.may_fetch(session, request)

    def begin_later(
        self,
        session: Session,
        request: StepRequest,
        done: Callable[[Outcome], None],
        wanted: Callable[[], bool],
    ) -> None:
        """As :meth:`begin`, where it may have to wait; ``done`` is told whatever is raised."""
        self._steps.store.use(session)
        self._steps.tasks.start(self._begun_later(session, request, done, wanted))

    async def _begun_later(
        self,
        session: Session,
        request: StepRequest,
        done: Callable[[Outcome], None],
        wanted: Callable[[], bool],
    ) -> None:
        try:
            await self._steps.entered(session, request, wanted, _PATIENCE)
            try:
                await self._steps.recall.fetch(session, request)
                self._steps.begin_entered(session, request, _nobody, done=done, wanted=wanted)
            except BaseException:
                self._steps.leave(session)
                raise
        except Exception as error:  # noqa: BLE001
            # Whatever it is belongs to whoever waits for the answer.
            done(error)


def _nobody(_: Outcome) -> None:
    """Nobody has to be told on the event loop."""
