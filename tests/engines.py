"""Engines and services over tiny checkpoints, for tests of the server's rooms."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.engine import Engine
from split_server.engine.job import EngineResult, Outcome, StepJob
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.memory.budget import BudgetLimits, ByteBudget
from split_server.original.sessions import OriginalSessions
from split_server.sessions.framed import FramedSessions
from split_server.sessions.in_process import InProcessSessions
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.reuse import Reuse
from split_server.sessions.step import StepAdmission
from split_server.sessions.store import SessionStore
from split_wire.client import (
    ClientProtocol,
    SessionOpened,
    SessionRestored,
    StepCompleted,
    StepFailed,
)
from split_wire.digest import PrefixChain
from split_wire.splice import Kept
from split_wire.tensor import Tensor, WireDtype
from split_wire.tiers import Cache
from tests import oracle

MANIFEST = "manifest-of-the-test"


def tiny_backbone(path: Path) -> Backbone:
    """The middle of the checkpoint at ``path`` in float32."""
    return load_backbone(read_checkpoint(path, path.name), "float32", "cpu")


@dataclass
class TinySessions:
    """Sessions of every kind over one engine."""

    steps: StepAdmission

    def __post_init__(self) -> None:
        self.framed = FramedSessions(self.steps)
        self.in_process = InProcessSessions(self.steps)
        self.original = OriginalSessions(self.steps)
        self.info = self.steps.info
        self.store = self.steps.store
        self.handle = self.framed.handle


def tiny_service(
    backbone: Backbone,
    limits: StoreLimits | None = None,
    budget: BudgetLimits | None = None,
    runner: Any = None,
    **options: Any,
) -> TinySessions:
    """Sessions whose engine is not started yet; ``pass_rows``: the most rows of a pass."""
    made = {"pass_rows": options.pop("pass_rows")} if "pass_rows" in options else {}
    engine = Engine(runner or ModelRunner(backbone), backbone.info, **made)
    clock: Callable[[], float] = options.pop("clock", lambda: 0.0)
    reuse: Reuse | None = options.get("reuse")
    runs = None if reuse is None else reuse.pool
    size = backbone.info.kv_bytes_per_position
    room = options.pop("room", None) or ByteBudget(budget or BudgetLimits(), size, runs=runs)
    store = SessionStore(limits or StoreLimits(), room, clock=clock)
    return TinySessions(StepAdmission(engine, store, MANIFEST, **options))


@dataclass
class Device:
    """A device reduced to its protocol: the oracle's embeddings in, greedy ids out."""

    service: TinySessions
    path: Path
    principal: str = "local"
    dtype: WireDtype | None = None
    salt: str | None = None
    cache: Cache = "exact"
    group: str | None = None
    share: int = 0

    def __post_init__(self) -> None:
        width = self.service.info.hidden_size
        self.protocol = ClientProtocol(
            width, MANIFEST, self.dtype, self.salt, self.cache, self.group, self.share
        )

    async def send(self, frame: bytes) -> Any:
        """Exchange one frame; the event it leads to."""
        answer = await self.service.handle(self.principal, frame)
        return self.protocol.receive(answer.frame)

    async def open(self) -> Device:
        """Open a session."""
        event = await self.send(self.protocol.open())
        assert isinstance(event, SessionOpened), event
        return self

    def chain(self, ids: list[int]) -> PrefixChain:
        """What names ``ids`` as they travel."""
        chain = PrefixChain(MANIFEST)
        rows = oracle.embeddings(self.path, ids).numpy()
        dtype = self.dtype or self.service.info.dtype
        chain.replace(0, chain.following(0, Tensor.from_f32(rows, dtype)))
        return chain

    async def reopen(self, ids: list[int]) -> int:
        """Open a session that may begin with ``ids``; positions that it holds."""
        event = await self.send(self.protocol.open(self.chain(ids)))
        assert isinstance(event, SessionOpened), event
        return self.protocol.cached

    async def restore(self, start: int, ids: list[int]) -> int:
        """Have the session hold as much of ``ids`` as is known; positions that it holds."""
        event = await self.send(self.protocol.restore(start, self.chain(ids)))
        assert isinstance(event, SessionRestored), event
        return event.cached

    async def close(self, keep: bool = True) -> None:
        """End the session; ``keep``: false has nothing of it kept."""
        frame = self.protocol.close(keep)
        assert frame is not None
        answer = await self.service.handle(self.principal, frame)
        assert answer.error is None, answer.error

    def frame(self, start: int, ids: list[int]) -> bytes:
        """The step frame that appends ``ids`` at ``start``."""
        return self.protocol.step(start, oracle.embeddings(self.path, ids).numpy())

    async def step(self, start: int, ids: list[int]) -> StepCompleted:
        """One step that must succeed."""
        event = await self.send(self.frame(start, ids))
        assert isinstance(event, StepCompleted), event
        return event

    async def splice(self, start: int, spans: list[Kept], ids: list[int]) -> StepCompleted:
        """One edit inside what is cached that must succeed; ``ids`` come between the spans."""
        rows = oracle.embeddings(self.path, ids).numpy()
        event = await self.send(self.protocol.splice(start, spans, rows))
        assert isinstance(event, StepCompleted), event
        return event

    async def refused(self, frame: bytes) -> str:
        """The code with which ``frame`` is refused."""
        event = await self.send(frame)
        assert isinstance(event, StepFailed), event
        return event.failure.code

    def pick(self, hidden: np.ndarray) -> int:
        """The greedy token after a hidden state [1, H]."""
        return int(oracle.head(self.path, torch.from_numpy(hidden.copy()))[0].argmax())

    async def greedy(self, ids: list[int], count: int, start: int = 0) -> list[int]:
        """Generate ``count`` ids after ``ids``, of which ``start`` are cached."""
        new: list[int] = []
        for _ in range(count):
            event = await self.step(start, (ids + new)[start:])
            start = len(ids) + len(new)
            new.append(self.pick(event.hidden))
        return new


@asynccontextmanager
async def serving(path: Path, **options: Any) -> AsyncIterator[TinySessions]:
    """A running service over the checkpoint at ``path``."""
    backbone = options.pop("backbone", None) or tiny_backbone(path)
    service = tiny_service(backbone, **options)
    service.steps.start()
    try:
        yield service
    finally:
        await service.steps.stop()


def submit(engine: Engine, job: StepJob) -> Future[EngineResult]:
    """Queue ``job``; a future that is cancelled is a step that nobody wants any more."""
    future: Future[EngineResult] = Future()

    def done(outcome: Outcome) -> None:
        if not future.set_running_or_notify_cancel():
            return
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    engine.post(job, done, lambda: not future.cancelled())
    return future


class HeldRunner(ModelRunner):
    """Runs a step only when the test lets it."""

    def __init__(self, backbone: Any) -> None:
        super().__init__(backbone)
        self.gate = threading.Semaphore(0)
        self.begun = threading.Semaphore(0)
        self.runs = 0

    def warm_up(self) -> None:
        """Nothing: the gate is shut."""

    def run(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        self.begun.release()
        self.gate.acquire()
        self.runs += 1
        return super().run(slices)


def run(work: Any) -> Any:
    """Run a coroutine to its end."""
    return asyncio.run(work)
