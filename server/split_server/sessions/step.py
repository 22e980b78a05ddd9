"""The one admission of steps: framed, in-process and original sessions all pass here.

Whether the server is stopping, which adapter a step means, how much room its attention takes, how
many steps are under way and where the prefix chain stands is decided in this module alone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from split_server.engine.engine import Engine
from split_server.engine.job import Abandoned, Outcome, StepJob
from split_server.engine.model.delta import Delta
from split_server.engine.model.info import ModelInfo
from split_server.engine.observer import StepObserver
from split_server.engine.vitals import Vitals
from split_server.kv.block_key import GROUPS, PUBLIC
from split_server.kv.run import Span
from split_server.sessions.cache_groups import CacheGroups, Share
from split_server.sessions.gate import StepGate
from split_server.sessions.keeping.worth import WORTH_LOOKING
from split_server.sessions.newcomers import Newcomers
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_server.sessions.step_rows import StepRows
from split_server.sessions.store import SessionStore
from split_server.sessions.tasks import LastingTasks
from split_wire.attention import AttentionRequest, attention_bytes
from split_wire.digest import PrefixChain
from split_wire.errors import (
    CacheFull,
    ContextOverflow,
    ModelStopped,
    Overloaded,
    ShuttingDown,
    SplitError,
    UnknownAdapter,
)
from split_wire.messages import DEFAULT_MAX_ROWS
from split_wire.probe import Probe
from split_wire.returned import INTERACTIVE_ROWS, Rows, returned
from split_wire.tensor import Tensor, WireDtype, item_size

# Seconds after the end of a step within which those who wait for memory are looked at.
_BEAT = 0.05
# Of each row that travels in i8.
_SCALE_BYTES = 4


@dataclass(frozen=True, slots=True)
class StepRequest:
    """Keep ``start`` positions, append ``embeddings`` [n, H]; hidden states of ``rows``.

    ``digests``: the chain after each row, None where the session's protocol state keeps the chain;
    ``names``: the same, for whatever keeps it, None where nothing is kept or found by them;
    ``copies``: how often the attention asked for, or many states, may be held at once.
    """

    start: int
    embeddings: Tensor
    digests: list[bytes] | None = None
    rows: Rows = "last"
    attention: AttentionRequest | None = None
    copies: int = 1
    adapter: str | None = None
    names: list[bytes] | None = None

    @property
    def end(self) -> int:
        """Positions that the cache holds afterwards."""
        return self.start + self.embeddings.rows

    @property
    def returned(self) -> int:
        """How many hidden states are answered."""
        return returned(self.rows, self.embeddings.rows)

    @property
    def guessed(self) -> int:
        """How many of the last rows may be a draft: those that are answered beside the first, as
        many as are decoded at a time.
        """
        return min(self.returned, INTERACTIVE_ROWS) - 1


def _nobody(_: Outcome) -> None:
    """Nobody has to be told on the model thread."""


def _always() -> bool:
    return True


def _as_it_is(_: Session) -> None:
    """A session that needs nothing more."""


def _crowded(waiting: int) -> SplitError:
    return Overloaded(f"{waiting} steps wait for memory")


class StepAdmission:
    """``manifest``: the served model's digest, with which every chain begins; ``max_queued``: steps
    that one principal may have under way; ``max_rows``: of one step; ``adapters``: those that a
    step may name; ``open_within``: seconds that a newcomer waits for a session, or for its memory;
    ``reuse``: keeps keys and values for later sessions, None where nothing is kept; ``groups``:
    principals that may share some of that.

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
    ) -> None:
        self.manifest = manifest
        self.groups = CacheGroups() if groups is None else groups
        self.reuse = reuse
        self.max_rows = max_rows
        self.store = store
        self.tasks = LastingTasks()
        self._engine = engine
        self._gate = StepGate(store, max_queued)
        self._adapters = dict(adapters)
        self._stopping = False
        self._newcomers = Newcomers(open_within, self._withdraw)
        self._claims = Newcomers(open_within, self.leave, CacheFull, _crowded)
        store.freed, store.settled = self._freed, lambda: self._claims.wake(_BEAT)
        if reuse is not None:
            store.park = reuse.park

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

    def start(self) -> None:
        """Start the model thread."""
        self._engine.start()
        if self.reuse is not None:
            self.reuse.start()

    async def stop(self) -> None:
        """Refuse new sessions and steps, answer those that were admitted, end the model thread."""
        self._stopping = True
        self._freed()
        await self.tasks.drain()
        await self._engine.stop()
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

    def require_serving(self) -> None:
        """Raise ShuttingDown once the server is stopping."""
        if self._stopping:
            raise ShuttingDown

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

    def open(self, principal: str, dtype: WireDtype, name: str | None = None) -> Session:
        """A new session with an empty cache, under a ``name`` if its client chose one.

        Raises ShuttingDown, TooManySessions.
        """
        self.require_serving()
        return self.store.open(principal, PrefixChain(self.manifest), dtype, name)

    def keep(self, session: Session, salt: str | None = None, share: Share | None = None) -> None:
        """What ``session`` computes is kept, and found by later ones of the same ``salt``, what it
        ``share``-s by those of the group.
        """
        if self.reuse is not None:
            self.reuse.name(session, salt, share)

    async def erase(self, session: Session) -> None:
        """Forget ``session`` and all that is kept of it. Raises Overloaded, ShuttingDown."""
        if self.reuse is not None:
            await self.reuse.erase(session, self.store.of(session.principal))
        self.store.close(session.principal, session.key)

    async def restored(self, session: Session, start: int, probe: Probe) -> int:
        """Positions that ``session`` holds after the longest known prefix of ``probe`` was taken in
        behind ``start``; where there is no memory for it, nothing is.

        No step of the session may be under way, and whoever waits for this must not be cancelled.
        Raises UnknownSession, Overloaded, ShuttingDown.
        """
        reuse = self.reuse
        if reuse is None:
            return start
        # Counted from here on: whoever asks for much takes the turns of his own steps.
        self._gate.enter(session, session.cache.length)
        spans: list[Span] = []
        try:
            spans = await reuse.found(session, start, probe)
            if not spans:
                return start
            try:
                self.store.reserve(session, spans[-1].end)
            except CacheFull:
                return start
            return await reuse.restored(session, start, spans)
        finally:
            reuse.pool.let_go(spans)
            self._gate.leave(session)

    async def opened(
        self,
        principal: str,
        dtype: WireDtype,
        prepare: Callable[[Session], None] = _as_it_is,
        name: str | None = None,
        patience: float | None = None,
    ) -> Session:
        """:meth:`open` once there is a place, principals in turn; ``prepare`` is called before
        anybody else gets one. ``patience``: seconds, in place of ``open_within``.

        Raises ShuttingDown, TooManySessions and what ``prepare`` raises.
        """

        def make() -> Session:
            session = self.open(principal, dtype, name)
            try:
                prepare(session)
            # Nobody would ever know its id.
            except BaseException:
                self._withdraw(session)
                raise
            return session

        return await self._newcomers.turn(principal, make, patience=patience)

    def _withdraw(self, session: Session) -> None:
        self.store.lose(session)

    def _freed(self) -> None:
        self._newcomers.wake()
        self._claims.wake()

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
        return self.store.grows(session, request.end, self._reply_room(session, request))

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
            await self._claims.turn(session.principal, make, session.since, patience)
        else:
            self.enter(session, request)

    def may_fetch(self, session: Session, request: StepRequest) -> bool:
        """Whether :meth:`fetch` has something to look for."""
        reuse, names = self.reuse, request.names
        if reuse is None or reuse.disk is None or names is None or session.names is None:
            return False
        return len(names) - request.returned >= WORTH_LOOKING

    async def fetch(self, session: Session, request: StepRequest) -> None:
        """Have in memory what the disk has of the rows of a step that was counted in."""
        reuse, names = self.reuse, request.names
        if reuse is not None and names is not None and self.may_fetch(session, request):
            await reuse.fetch(session, request.start, names)

    def enter(self, session: Session, request: StepRequest) -> None:
        """Count ``request`` in, and set memory aside for it.

        Raises UnknownAdapter, ContextOverflow, AttentionTooLarge, Overloaded, UnknownSession for a
        session that was given up, CacheFull; nothing is counted then, and nothing but idle sessions
        of the same principal has made way.
        """
        self.adapter(request.adapter)
        self.require_context(request.end)
        self._gate.enter(session, request.end, self._reply_room(session, request))

    def leave(self, session: Session) -> None:
        """Count out what :meth:`enter` counted in."""
        self._gate.leave(session)

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
        loop = asyncio.get_running_loop()
        job = self._job(session, request)
        answered: asyncio.Future[None] = self.tasks.future()

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

    def _job(self, session: Session, request: StepRequest) -> StepJob:
        return StepJob(
            cache=session.cache,
            start=request.start,
            embeddings=request.embeddings,
            rows=request.rows,
            dtype=session.dtype,
            principal=session.principal,
            attention=request.attention,
            adapter=self.adapter(request.adapter),
            shared=self._shared(session, request),
        )

    def _shared(self, session: Session, request: StepRequest) -> StepRows | None:
        """What the step and others may have of each other."""
        reuse, names = self.reuse, request.names
        if reuse is None or names is None or not session.finds:
            return None
        returned, guessed = request.returned, request.guessed
        return StepRows(reuse, session, request.start, names, returned, guessed)

    def _audited(self, session: Session, request: StepRequest, outcome: Outcome) -> None:
        if self.reuse is not None and self.reuse.audit is not None:
            succeeded = not isinstance(outcome, Exception)
            self.reuse.audit.settle(session, request.start, succeeded=succeeded)

    def _publish(self, session: Session, request: StepRequest, outcome: Outcome) -> None:
        if self.reuse is None or request.names is None:
            return
        if isinstance(outcome, Exception):
            # Of what was given to others before it failed, the session holds nothing any more.
            session.published = min(session.published, request.start)
            session.guessed_at = None
            return
        self.reuse.publish(session, request.start, request.names, request.guessed)

    def _reply_room(self, session: Session, request: StepRequest) -> int:
        """Bytes of a large reply: of the attention that is asked for, and of the states of more
        rows than are decoded at a time. Raises AttentionTooLarge.
        """
        info, size = self.info, 0
        if request.returned > INTERACTIVE_ROWS:
            size = request.returned * (info.hidden_size * item_size(session.dtype) + _SCALE_BYTES)
        if request.attention is not None:
            size += attention_bytes(request.attention, info.num_layers, info.num_heads, request.end)
        return request.copies * size


def _chain(session: Session, request: StepRequest, outcome: Outcome) -> None:
    """Have the chain follow the cache, on the thread that has just changed the cache."""
    if request.digests is None:
        return
    if isinstance(outcome, Exception):
        session.fall_back()
    else:
        session.advance(request.start, request.digests)
