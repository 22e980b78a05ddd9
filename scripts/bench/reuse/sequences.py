"""A chat's next turn beside the engine: on the session that was kept, and on what one left behind.

In one process, without a network, as the compatible APIs do it: ``--new`` rows behind ``--held``
ones, in turn on a session that stayed and on a new one that sends everything and has what is known
taken in.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
import time
from pathlib import Path

import numpy as np

from scripts.bench import options as common
from scripts.bench.report import heading, spread, table
from scripts.bench.shapes import random_checkpoint
from split_server.checkpoint.folder import read_checkpoint
from split_server.compat.backend import EngineBackend
from split_server.engine.engine import Engine
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.runner import ModelRunner
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.memory.budget import BudgetLimits, ByteBudget
from split_server.sessions.in_process import InProcessSessions
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.reuse import Reuse
from split_server.sessions.step import StepAdmission
from split_server.sessions.store import SessionStore


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = random_checkpoint(options.shape, folder, options.dtype)
        kept, parked = asyncio.run(_measured(path, options))
    print(heading(f"A turn beside the engine, shape {options.shape}", options.dtype))
    ratios = [one / other for one, other in zip(parked, kept, strict=True)]
    row = [spread(kept, "ms", 0), spread(parked, "ms", 0), spread(ratios, "x", 2)]
    print(table(["session that was kept", "new one, rows taken in", "ratio"], [row]))


async def _measured(path: Path, options: argparse.Namespace) -> tuple[list[float], list[float]]:
    backbone = load_backbone(read_checkpoint(path, path.name), options.dtype, "cpu")
    pool, info = RunPool(PoolLimits()), backbone.info
    room = ByteBudget(BudgetLimits(), info.kv_bytes_per_position, runs=pool)
    store = SessionStore(StoreLimits(), room)
    reuse = Reuse(pool, Namespaces("of the benchmark"))
    steps = StepAdmission(Engine(ModelRunner(backbone), info), store, "benchmark", reuse=reuse)
    steps.start()
    sessions, loop = InProcessSessions(steps), asyncio.get_running_loop()
    try:
        return await asyncio.to_thread(_turns, sessions, loop, options)
    finally:
        await steps.stop()


def _turns(
    sessions: InProcessSessions, loop: asyncio.AbstractEventLoop, options: argparse.Namespace
) -> tuple[list[float], list[float]]:
    """Milliseconds of turns on a kept session, and of those on a new one."""
    random, held = np.random.default_rng(17), options.held
    size = (held + options.new, sessions.info.hidden_size)
    rows = random.standard_normal(size, np.float32) * np.float32(0.05)
    stayed = EngineBackend(sessions, loop, "somebody")
    _send(stayed, rows[:held], 0)
    kept, parked = [], []
    for _ in range(options.rounds + 1):
        kept.append(_send(stayed, rows, held))
        rows[held:] = random.standard_normal(rows[held:].shape, np.float32) * np.float32(0.05)
        backend = EngineBackend(sessions, loop, "somebody")
        parked.append(_send(backend, rows, 0))
        backend.close()
    # The first turns find everything cold.
    return kept[1:], parked[1:]


def _send(backend: EngineBackend, rows: np.ndarray, start: int) -> float:
    """Append ``rows`` from ``start`` on, a step after the other; milliseconds."""
    began = time.perf_counter()
    for first in range(start, len(rows), backend.max_rows):
        backend.step(first, rows[first : first + backend.max_rows])
    return 1e3 * (time.perf_counter() - began)


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--held", type=int, default=1158)
    parser.add_argument("--new", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


if __name__ == "__main__":
    main()
