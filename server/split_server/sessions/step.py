"""The one admission of steps: framed, in-process and original sessions all pass here.

Whether the server is stopping, which adapter a step means, how much room its attention takes, how
many steps are under way and where the prefix chain stands is decided here and in the parts that
this module puts together (``admission``) alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from split_server.engine.engine import Engine
from split_server.engine.job import Abandoned, Outcome
from split_server.engine.model.blending import Blending
from split_server.engine.model.delta import Delta
from split_server.engine.model.info import ModelInfo
from split_server.engine.observer import StepObserver
from split_server.engine.vitals import Vitals
from split_server.kv.block_key import GROUPS, PUBLIC
from split_server.kv.moving.rotate import KeyRotation
from split_server.sessions.admission.blends import Blends
from split_server.sessions.admission.entrance import Entrance
from split_server.sessions.admission.opening import Opening
from split_server.sessions.admission.posting import Posting
from split_server.sessions.admission.recall import Recall
from split_server.sessions.admission.request import StepRequest
from split_server.sessions.admission.resting import Resting
from split_server.sessions.admission.seeing import Seeing
from split_server.sessions.admission.splicing import Splicing
from split_server.sessions.cache_groups import CacheGroups
from split_server.sessions.keeping.approximate import ApproximateAudit
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_server.sessions.tasks import LastingTasks
from split_wire.errors import ContextOverflow, ShuttingDown, UnknownAdapter
from split_wire.messages import DEFAULT_MAX_ROWS


def _nobody(_: Outcome) -> None:
    """Nobody has to be told on the model thread."""


def _always() -> bool:
    return True


class StepAdmission:
    """``manifest``: the served model's digest, with which every chain begins; ``max_queued``: steps
    that one principal may have under way; ``max_rows``: of one step; ``adapters``: those that a
    step may name; ``open_within``: seconds that a newcomer waits for a session, or for its memory;
    ``queue_newcomers``: whether a device waits for a session that does not say that it will;
    ``reuse``: keeps keys and values for later sessions, None where nothing is kept; ``groups``:
    principals that may share some of that; ``rotation``: moves keys, None where nothing is spliced;
    ``approximate``: has some of the replies behind that computed plainly as well; ``blending``:
    computes rows between such ones anew, None where nothing does.

    ``opening`` gives sessions; ``recall`` has what is kept of them beside their steps, ``seeing``
    which of their rows later ones see; ``spans``: whether a device may hide any; ``splicing`` takes
    edits inside a prompt, None where there are none.

    Lives on the event loop, but for what is said to run on the model thread.
    """

    def __init__(
        self,
        engine: Engine,
        store: SessionStore,
        manifest: str,
        max_queued: int = 32,
        max_rows: int = DEFAULT_MAX_ROWS,
        adapters: Mapping[str, Delta] = MappingProxyType({}),
        open_within: float = 0.0,
        reuse: Reuse | None = None,
        groups: CacheGroups | None = None,
        *,
        queue_newcomers: bool = True,
        spans: bool = False,
        rotation: KeyRotation | None = None,
        approximate: ApproximateAudit | None = None,
        blending: Blending | None = None,
    ) -> None:
        self.manifest = manifest
        self.groups = CacheGroups() if groups is None else groups
        self.reuse = reuse
        self.max_rows = max_rows
        self.store = store
        self.tasks = LastingTasks()
        self._engine = engine
        self._adapters = dict(adapters)
        self._stopping = self._leaving = self._warm = False
        self.opening = Opening(
            store,
            manifest,
            open_within,
            self._require_staying,
            self._ready,
            queue_newcomers=queue_newcomers,
        )
        self._sharing = None if reuse is None else reuse.sharing
        self._entrance = Entrance(store, engine.info, max_queued, open_within, self._sharing)
        self.recall = Recall(reuse, store, self._entrance)
        self._resting = None if reuse is None else Resting(store, reuse, self._entrance)
        self.seeing = Seeing(self._entrance, reuse, offered=spans)
        self._posting = Posting(engine, self.tasks, reuse)
        self.splicing: Splicing | None = None
        if rotation is not None and reuse is not None:
            audit = ApproximateAudit(0.0) if approximate is None else approximate
            blends = None if blending is None else Blends(blending, engine.send)
            self.splicing = Splicing(rotation, reuse, self.post, audit, blends)
        store.freed, store.settled = self._freed, self._entrance.settled
        if reuse is not None:
            store.park, store.set_aside = reuse.park, reuse.set_aside
            store.given_up = reuse.give_up

    @property
    def info(self) -> ModelInfo:
        """The model that is served."""
        return self._engine.info

    @property
    def vitals(self) -> Vitals:
        """Whether the model's thread serves, and how often a fault has ended its work."""
        return self._engine.vitals

    def alone(self, session: Session | None) -> bool:
        """Whether nobody but ``session`` waits for the model or decodes. Any thread may ask."""
        return self._engine.alone(None if session is None else session.cache)

    def pass_seconds(self, rows: int) -> float:
        """What a pass with ``rows`` rows of decoding takes, 0 while that is not known. Any thread
        may ask.
        """
        return self._engine.pass_seconds(rows)

    def observe(self, observer: StepObserver) -> None:
        """Have ``observer`` told of the engine's work; before :meth:`start`."""
        self._engine.observer = observer

    def warm_up(self) -> None:
        """Start the model thread, and wait for its first passes. On any thread."""
        self._engine.start()
        self._warm = True

    def start(self) -> None:
        """Serve; the model thread is started where it does not run yet."""
        if not self._warm:
            self.warm_up()
        if self.reuse is not None:
            self.reuse.start()

    def refuse_newcomers(self) -> None:
        """Refuse new sessions, those that are waited for included; the others go on."""
        self._leaving = True
        self._freed()

    async def stop(self) -> None:
        """Refuse new sessions and steps, answer those that were admitted, end the model thread."""
        self._stopping = True
        self._freed()
        await self.tasks.drain()
        self.seeing.close()
        await self._engine.stop()
        if self.splicing is not None:
            self.splicing.close()
        if self.reuse is not None:
            try:
                await self.reuse.flush(self.store.idle())
            finally:
                self.reuse.close()

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop all that is held of principals that are ``gone``; what is public never is."""
        left = lambda principal: principal not in (PUBLIC, GROUPS) and gone(principal)  # noqa: E731
        self.store.forget(left)
        if self.reuse is not None:
            self.reuse.forget(left)

    def sweep(self) -> None:
        """Drop what was idle for too long."""
        self.store.sweep()
        if self.reuse is not None:
            self.reuse.pool.sweep()

    async def keep_rests(self) -> None:
        """Keep the last rows of replies after which nothing came for a moment, where there is a
        disk for them. Raises ShuttingDown.
        """
        self.require_serving()
        if self._resting is not None and self.reuse is not None and self.reuse.disk is not None:
            await self.tasks.result(self.tasks.start(self._resting.keep()))

    async def _ready(self, principal: str) -> None:
        """Have at hand what names the rows of the principal's sessions."""
        if self.reuse is not None:
            await self.reuse.ready(principal, grouped=bool(self.groups))

    def require_serving(self) -> None:
        """Raise ShuttingDown once the server is stopping."""
        if self._stopping:
            raise ShuttingDown

    def _require_staying(self) -> None:
        """Raise ShuttingDown once new sessions had better go elsewhere."""
        if self._leaving:
            raise ShuttingDown
        self.require_serving()

    def require_context(self, positions: int) -> None:
        """Raise ContextOverflow for more positions than the model has."""
        if positions > self.info.max_context:
            raise ContextOverflow(positions, self.info.max_context)

    def adapter(self, name: str | None) -> Delta | None:
        """The adapter that a step names. Raises UnknownAdapter."""
        if name is None:
            return None
        if name not in self._adapters:
            raise UnknownAdapter(name)
        return self._adapters[name]

    def _freed(self) -> None:
        if self._sharing is not None:
            self._sharing.tidy()
        self.opening.freed()
        self._entrance.freed()

    def begin(
        self,
        session: Session,
        request: StepRequest,
        ended: Callable[[Outcome], None],
        *,
        done: Callable[[Outcome], None] = _nobody,
        wanted: Callable[[], bool] = _always,
    ) -> None:
        """Count one step in and queue it; see :meth:`enter` and :meth:`post`.

        Raises what they raise, and whatever is raised, nothing is counted then and nobody is told
        anything.
        """
        self.enter(session, request)
        try:
            self.begin_entered(session, request, ended, done=done, wanted=wanted)
        except BaseException:
            self.leave(session)
            raise

    def begin_entered(
        self,
        session: Session,
        request: StepRequest,
        ended: Callable[[Outcome], None],
        *,
        done: Callable[[Outcome], None] = _nobody,
        wanted: Callable[[], bool] = _always,
    ) -> None:
        """:meth:`begin` for a step that was counted in; whoever is raised something counts it out,
        else its end does.
        """

        def left(outcome: Outcome) -> None:
            try:
                ended(outcome)
            finally:
                self.leave(session)

        self.post(session, request, left, done=done, wanted=wanted)

    def waits(self, session: Session, request: StepRequest) -> bool:
        """Whether the step needs memory that it may have to wait for. Raises AttentionTooLarge."""
        return self._entrance.waits(session, request)

    async def entered(
        self,
        session: Session,
        request: StepRequest,
        wanted: Callable[[], bool] = _always,
        patience: float | None = None,
    ) -> None:
        """:meth:`enter` once there is memory, principals in turn, and of each the session first
        that is in use the longest; ``wanted`` and ``patience`` as in :meth:`post` and
        :meth:`opened`.

        Raises what :meth:`enter` raises, Abandoned for a step that is no longer ``wanted``, and
        Overloaded where too many wait.
        """

        def make() -> Session:
            self.require_serving()
            if not wanted():
                raise Abandoned
            self.enter(session, request)
            return session

        if self.waits(session, request):
            await self._entrance.turn(session, make, patience)
        else:
            self.enter(session, request)

    def enter(self, session: Session, request: StepRequest) -> None:
        """Count ``request`` in, and set memory aside for it.

        Raises UnknownAdapter, ContextOverflow, AttentionTooLarge, Overloaded, UnknownSession for a
        session that was given up, CacheFull; nothing is counted then, and nothing but idle sessions
        of the same principal has made way.
        """
        self.adapter(request.adapter)
        self.require_context(request.end)
        self._entrance.enter(session, request)

    def leave(self, session: Session) -> None:
        """Count out what :meth:`enter` counted in."""
        self._entrance.leave(session)

    def post(
        self,
        session: Session,
        request: StepRequest,
        ended: Callable[[Outcome], None],
        *,
        done: Callable[[Outcome], None] = _nobody,
        wanted: Callable[[], bool] = _always,
    ) -> None:
        """Queue a step that was counted in, or a part of it. Raises Overloaded, ShuttingDown.

        ``done`` is told on the model thread, ``ended`` on the event loop; with ``Abandoned`` of a
        step that is no longer ``wanted`` when its turn comes.
        """
        adapter = self.adapter(request.adapter)
        self._posting.post(session, request, adapter, ended, done, wanted)
