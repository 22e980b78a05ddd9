"""A real server whose model waits for the test before every step."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from split_server.engine.engine import Engine
from split_server.engine.model.runner import ModelRunner
from split_server.http.original.protocol import OriginalProtocol
from split_server.memory.budget import BudgetLimits, ByteBudget
from split_server.original.sessions import OriginalSessions
from split_server.serving.config import ServerConfig
from split_server.serving.startup import load_parts
from split_server.sessions.framed import FramedSessions
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.step import StepAdmission
from split_server.sessions.store import SessionStore
from split_wire.client import ClientProtocol
from tests.engines import tiny_backbone
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server


class GatedRunner(ModelRunner):
    """Runs a step once ``gate`` is set; ``entered`` tells that one is waiting."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.gate = threading.Event()
        self.entered = threading.Event()

    def warm_up(self) -> None:
        """Nothing to warm."""

    def run(self, *arguments: Any) -> Any:
        self.entered.set()
        assert self.gate.wait(PATIENCE)
        return super().run(*arguments)


@contextmanager
def gated_server(path: Path, **settings: Any) -> Iterator[tuple[RunningServer, GatedRunner]]:
    """Serve the checkpoint at ``path``; the gate is opened at the end in any case."""
    parts = load_parts(ServerConfig(model=str(path), compat=False))
    backbone = tiny_backbone(path)
    runner, info = GatedRunner(backbone), backbone.info
    store = SessionStore(StoreLimits(), ByteBudget(BudgetLimits(), info.kv_bytes_per_position))
    steps = StepAdmission(Engine(runner, info), store, parts.manifest.digest)
    original = OriginalProtocol(
        OriginalSessions(steps), lambda _: [], lambda _: np.zeros(1, np.float32)
    )
    gated = replace(
        parts, steps=steps, framed=FramedSessions(steps), original=original, memory=None
    )
    with running_server(parts=gated, **settings) as server:
        try:
            yield server, runner
        finally:
            runner.gate.set()


def device(server: RunningServer) -> ClientProtocol:
    """A device that holds the served manifest."""
    return ClientProtocol(server.parts.steps.info.hidden_size, server.manifest)


def rows(server: RunningServer, count: int = 1) -> np.ndarray:
    """Some embeddings."""
    width = server.parts.steps.info.hidden_size
    return np.linspace(-1, 1, count * width, dtype=np.float32).reshape(count, width)
