"""Loads models when they are asked for, and lets go those that nobody uses."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Generic

from split_server.checkpoint.mark import Mark, mark_of
from split_server.serving.models.allowance import Allowance
from split_server.serving.models.asked import Ahead, Ground
from split_server.serving.models.leaving import give_back, lasts, left, told
from split_server.serving.models.naming import NamedModel
from split_server.serving.models.slots import ModelState, R, Slot
from split_server.threads import Threads
from split_wire.errors import (
    ModelBusy,
    ModelLoading,
    ModelUnusable,
    OperatorNeeded,
    ShuttingDown,
    UnknownModel,
)

# Shorter than the silence after which proxies give a request up.
_PATIENCE = 10.0
# Whoever asked for a model has not begun a step yet.
_GRACE = 5.0
_SHORTEST_RETRY, _LONGEST_RETRY = 1.0, 60.0
_log = logging.getLogger(__name__)


class Keeper(Generic[R]):
    """Lives on the event loop; ``load`` makes a room on a thread of the keeper's.

    ``first``: the room of the first model, which is loaded and stays. One is in use for ``keep``
    seconds after a step, for ever below 0; ``patience``: seconds for which a load is waited for;
    ``clock`` in seconds, that of :meth:`Served.used`.
    """

    def __init__(
        self,
        models: Sequence[NamedModel],
        load: Callable[[NamedModel], R],
        first: R,
        memory: Ground,
        keep: float,
        clock: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE,
    ) -> None:
        self._slots = {one.name: Slot[R](one, first=one is models[0]) for one in models}
        slot = self._slots[models[0].name]
        slot.room, slot.state, slot.loads, slot.since = first, "loaded", 1, clock()
        self._load, self._memory = load, memory
        self._keep, self._clock, self._patience = keep, clock, patience
        self._allowance = Allowance(clock)
        # Of loads, and of letting go: one at a time, so that each sees the memory as it is.
        self._turn = asyncio.Lock()
        self._thread = Threads("loading", 1)
        self._looks = Threads("looks at models", 1)
        self._draining = False

    def states(self) -> list[ModelState]:
        """All models, the first one first."""
        now = self._clock()
        return [slot.seen(now) for slot in self._slots.values()]

    def loaded(self, name: str) -> R | None:
        """The room of a model that serves."""
        slot = self._slots.get(name)
        return slot.room if slot is not None and slot.state == "loaded" else None

    def rooms(self) -> list[R]:
        """All rooms in memory, those that are leaving included."""
        return [slot.room for slot in self._slots.values() if slot.room is not None]

    @property
    def at_work(self) -> bool:
        """Whether a load, given up or not, still computes."""
        return self._thread.at_work

    async def room(self, name: str, principal: str, *, operator: bool = False) -> R:
        """The room of the model, which is loaded first where it is not; for its ``operator`` also
        where that was in vain and nothing has changed.

        Raises UnknownModel, ModelLoading once it was waited for, ModelBusy, ShuttingDown,
        ModelUnusable, and InternalError where the load failed.
        """
        slot = self._slot(name)
        if self._draining:
            raise ShuttingDown
        slot.asked = max(slot.asked, self._clock())
        if slot.room is not None and slot.state == "loaded":
            return slot.room
        task = slot.task or self._begin(slot, principal, operator=operator)
        # Others wait for it too.
        done, _ = await asyncio.wait([task], timeout=self._patience)
        if not done:
            raise self._later(slot)
        if task.cancelled():
            raise ShuttingDown
        return task.result()

    async def load(self, name: str, principal: str) -> None:
        """Have the model loaded for its operator. Raises as :meth:`room`."""
        await self.room(name, principal, operator=True)

    async def unload(self, name: str, principal: str, *, operator: bool) -> None:
        """Let the model go for its ``operator``, or for whom it has the only sessions in it.

        Raises UnknownModel, OperatorNeeded, ModelBusy for the first one, ShuttingDown.
        """
        slot = self._slot(name)
        if slot.first:
            raise ModelBusy(name, "the first model stays loaded", _LONGEST_RETRY)
        _check(slot, principal, operator=operator)
        async with self._turn:
            if self._draining:
                raise ShuttingDown
            # Others may have come while this waited.
            _check(slot, principal, operator=operator)
            if slot.state == "loaded":
                await self._let_go(slot)

    async def sweep(self) -> None:
        """Let go what nobody used for ``keep``, unless a load is under way."""
        if self._draining or self._turn.locked():
            return
        async with self._turn:
            for slot in self._idle():
                await self._let_go(slot)

    async def drain(self) -> None:
        """Load no more, and drain all rooms side by side."""
        self._draining = True
        tasks = [slot.task for slot in self._slots.values() if slot.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # What leaves just now does so first.
        async with self._turn:
            await asyncio.gather(*(room.drain() for room in self.rooms()))

    def close(self) -> None:
        """End all rooms, and the thread that loads."""
        self._thread.close()
        self._looks.close()
        for room in self.rooms():
            room.close()

    def _slot(self, name: str) -> Slot[R]:
        slot = self._slots.get(name)
        if slot is None:
            raise UnknownModel(name, [*self._slots])
        return slot

    def _begin(self, slot: Slot[R], principal: str, *, operator: bool) -> asyncio.Task[R]:
        """Have it loaded for whoever waits. Raises ModelBusy."""
        if operator:
            slot.refused = None
        if slot.refused is None:
            self._allow(slot, principal)
        slot.begun = self._clock()
        slot.task = asyncio.create_task(self._loaded(slot, principal), name=f"load {slot.name}")
        slot.task.add_done_callback(_heeded)
        return slot.task

    def _allow(self, slot: Slot[R], principal: str) -> None:
        """Count a load of the principal's. Raises ModelBusy."""
        wait = self._allowance.wait(principal)
        if wait > 0:
            reason = "you had two models loaded within a minute"
            raise ModelBusy(slot.name, reason, _retry(wait))
        self._allowance.count(principal)

    async def _loaded(self, slot: Slot[R], principal: str) -> R:
        try:
            if slot.refused is not None:
                await self._look_again(slot, slot.refused)
                self._allow(slot, principal)
            return await self._tried(slot, principal)
        finally:
            slot.task = None

    async def _look_again(self, slot: Slot[R], refused: Mark) -> None:
        """Raises ModelUnusable where what was refused lies there as it did."""
        if await self._looks.run(lambda: mark_of(slot.named.config.path)) == refused:
            raise ModelUnusable(slot.name)
        slot.refused = None

    async def _tried(self, slot: Slot[R], principal: str) -> R:
        mark: Mark | None = None
        try:
            async with self._turn:
                slot.state, slot.begun = "loading", self._clock()
                # Before anything is read: what changes meanwhile is worth another try.
                mark = await self._looks.run(lambda: mark_of(slot.named.config.path))
                return await self._made(slot)
        # Whatever it is belongs to whoever asked, and to the log.
        except Exception as error:  # noqa: BLE001
            failure = told(slot.name, error)
            if isinstance(failure, ModelUnusable) and mark is not None and lasts(error):
                slot.refused = mark
                self._allowance.give_back(principal)
        finally:
            if slot.room is None:
                slot.state = "unloaded"
        # Beyond the handler: the frames of the error hold the tensors of what failed.
        await self._thread.run(give_back)
        raise failure

    async def _made(self, slot: Slot[R]) -> R:
        ahead = await self._thread.run(lambda: self._memory.prepare(slot.named))
        way = await self._way(slot, ahead)
        slot.size = ahead.size(way)
        with self._memory.promised(slot.size):
            room = await self._thread.run(lambda: self._load(slot.named))
        try:
            await self._thread.run(room.warm_up)
            room.start()
        except BaseException:
            await left(room, self._thread)
            raise
        now = self._clock()
        slot.room, slot.state, slot.since, slot.took = room, "loaded", now, now - slot.begun
        slot.loads += 1
        _log.info("model %s was loaded in %.1f s", slot.name, slot.took)
        return room

    async def _way(self, slot: Slot[R], ahead: Ahead) -> int:
        """The dearest way for which there is memory, once idle models have gone, or ModelBusy."""
        for way in range(len(ahead.ways)):
            while ahead.lacking(way) > 0 and (idle := self._idle()):
                await self._let_go(idle[0])
            if ahead.lacking(way) <= 0:
                ahead.make_way(way)
                return way
        raise self._busy(slot, ahead)

    def _later(self, slot: Slot[R]) -> ModelLoading:
        """Whoever is told when to come back finds the model there then."""
        retry = _retry(slot.left(self._clock()))
        slot.asked = self._clock() + retry
        return ModelLoading(slot.name, retry)

    def _idle(self) -> list[Slot[R]]:
        """Those that may go, the longest unused first."""
        now = self._clock()
        idle = [slot for slot in self._slots.values() if self._may_go(slot, now)]
        return sorted(idle, key=lambda slot: -slot.unused(now))

    def _may_go(self, slot: Slot[R], now: float) -> bool:
        if slot.first or slot.state != "loaded" or self._keep < 0:
            return False
        # What is under way, and the time between two steps of one reply, is use.
        unused = slot.unused(now)
        return unused >= self._keep and min(unused, now - slot.asked) >= _GRACE

    async def _let_go(self, slot: Slot[R]) -> None:
        """Have its sessions kept, and its memory back."""
        room, slot.state = slot.room, "leaving"
        if room is None:
            return
        # Of one that is cut off on the way the end of the server sees to the rest.
        await left(room, self._thread)
        slot.size = room.parts.weights
        slot.room, slot.state = None, "unloaded"
        slot.unloads += 1
        del room
        await self._thread.run(give_back)
        _log.info("model %s was let go", slot.name)

    def _busy(self, slot: Slot[R], ahead: Ahead) -> ModelBusy:
        """What holds the memory that the model lacks."""
        now, ways = self._clock(), range(len(ahead.ways))
        lacking = min(map(ahead.lacking, ways))
        others = [one for one in self._slots.values() if one.room is not None]
        held = ", ".join(f"{one.name} ({_gigabytes(one.seen(now).bytes or 0)})" for one in others)
        reason = f"it lacks {_gigabytes(lacking)} of memory, which these hold: {held}"
        going = [one for one in others if not one.first and self._keep >= 0]
        waits = [self._keep - one.unused(now) for one in going]
        return ModelBusy(slot.name, reason, _retry(min(waits, default=_LONGEST_RETRY)))


def _check(slot: Slot[R], principal: str, *, operator: bool) -> None:
    """Raises OperatorNeeded where others may use the model, or wait for it."""
    room = slot.room
    if operator or (room is None and slot.task is None):
        return
    if room is None or room.parts.steps.store.principals() != {principal}:
        raise OperatorNeeded(f"unloading {slot.name!r}, which others may use,")


def _heeded(task: asyncio.Task[R]) -> None:
    """An error is told to whoever waits; nobody may."""
    if not task.cancelled():
        task.exception()


def _retry(seconds: float) -> float:
    return round(min(max(seconds, _SHORTEST_RETRY), _LONGEST_RETRY), 1)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB"
