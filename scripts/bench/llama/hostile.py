"""Hostile sessions against the llama engine: none ends the process or touches somebody else's.

``python -m scripts.bench.llama.hostile``. Sequences of steps as a client could have them posted,
and some that no client can (gaps, no rows, other widths, a cache twice in a pass): huge and tiny
rows, rows that are not finite, cuts, ends in the middle, attention of any length, more sessions
than there are sequences and more positions than there are cells. All of it runs in a process of
its own, which must live; beside it a witness goes on with a text whose states are known. The whole
server under damaged messages: ``python -m scripts.bench.hostile.run --engine llama``. Exit status
1: the process ended, a state of the witness was another, or something was left behind.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from scripts.bench.report import finish
from scripts.paths import ROOT
from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.engine import Engine
from split_server.engine.job import EngineResult, Outcome, StepJob
from split_server.kv.session_cache import SessionCache
from split_server.llama.model import ROWS, LlamaModel, load_llama, planned
from split_server.memory.limit import Room
from split_wire.attention import AttentionRequest
from split_wire.tensor import Tensor

_ROOM = Room(2 << 30, "benchmark")
_SESSIONS, _CELL_BYTES = 12, 1
# A state that differs by more is another one: sums over other cells round otherwise.
_TOLERANCE = 1e-3
_WITNESS_EVERY = 20
_SECONDS = 60.0


class Siege:
    """``model`` under an ``engine`` that runs; the same for the same ``seed``."""

    def __init__(self, model: LlamaModel, engine: Engine, seed: int) -> None:
        self._model, self._engine = model, engine
        self._draw, self._width = random.Random(seed), model.info.hidden_size
        self._rng = np.random.default_rng(seed)
        self._rows = self._rng.standard_normal((64, self._width)).astype(np.float32)
        self._caches: list[SessionCache] = []
        self.counts: Counter[str] = Counter()
        self._witness = model.cells.new()
        self._known: list[np.ndarray[Any, Any]] = []

    def sequence(self) -> None:
        """One session, or one of those that are open: a few steps, and perhaps its end."""
        draw = self._draw
        if len(self._caches) < 2 * _SESSIONS and draw.random() < 0.5:
            self._caches.append(self._model.cells.new())
        if not self._caches:
            return
        cache = draw.choice(self._caches)
        steps = [self._posted(cache) for _ in range(draw.randint(1, 4))]
        for step in steps:
            self._count(step)
        if draw.random() < 0.4:
            cache.release()
            if draw.random() < 0.8:
                self._caches.remove(cache)

    def check(self) -> None:
        """The witness says what it said the first time. Raises AssertionError."""
        self._witness.release()
        states = []
        for start, end in ((0, 5), (5, 6), (6, 20), (20, 21)):
            rows = Tensor.from_f32(self._rows[start:end], "f32")
            job = StepJob(self._witness, start, rows, "all", "f32", "witness")
            states.append(self._post(job).result(_SECONDS).hidden.to_f32())
        if not self._known:
            self._known = states
        for known, found in zip(self._known, states, strict=True):
            assert np.abs(known - found).max() < _TOLERANCE, "the witness got another state"

    def end(self) -> None:
        """Release everything; nothing may be left. Raises AssertionError."""
        for cache in [*self._caches, self._witness]:
            cache.release()
        self.check()
        self._witness.release()

    def _posted(self, cache: SessionCache) -> Future[EngineResult]:
        draw = self._draw
        rows = self._hostile_rows(draw.choice([1, 1, 1, 2, 7, 40, ROWS, ROWS + 1]))
        start = cache.length
        if draw.random() < 0.3:
            start = draw.choice([0, draw.randint(0, max(start, 1)), start + 1, -1, 1 << 31])
        length = max(start, 0) + rows.rows
        watched = None
        if draw.random() < 0.2:
            watched = AttentionRequest(top_k=draw.choice([0, min(3, length)]))
        step = self._post(StepJob(cache, start, rows, "last", "f32", draw.choice("abc"), watched))
        if draw.random() < 0.1:
            step.cancel()
        return step

    def _hostile_rows(self, count: int) -> Tensor:
        draw, width = self._draw, self._width
        if draw.random() < 0.03:
            width = draw.choice([1, width + 1, 2 * width])
        rows = self._rng.standard_normal((count, width)).astype(np.float32)
        kind = draw.randrange(8)
        if kind == 1:
            rows *= np.float32(draw.choice([1e-40, 1e6, 1e30, 3e38]))
        elif kind == 2:
            rows[:] = draw.choice([0.0, 1e6, -1e6])
        elif kind == 3:
            rows[:, ::2] = 9.9e5
            rows[:, 1::2] = -9.9e5
        elif kind == 4:
            rows[draw.randrange(count), draw.randrange(width)] = draw.choice(
                [np.nan, np.inf, -np.inf, 1e6]
            )
        return Tensor("f32", (count, width), rows.tobytes())

    def _post(self, job: StepJob) -> Future[EngineResult]:
        future: Future[EngineResult] = Future()

        def done(outcome: Outcome) -> None:
            if not future.set_running_or_notify_cancel():
                return
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        try:
            self._engine.post(job, done, lambda: not future.cancelled())
        except Exception as error:  # noqa: BLE001 - refused at the door is an answer as well
            future.set_exception(error)
        return future

    def _count(self, step: Future[EngineResult]) -> None:
        if step.cancelled():
            self.counts["given up"] += 1
            return
        error = step.exception(_SECONDS)
        self.counts["computed" if error is None else type(error).__name__] += 1


def besiege(folder: Path, sequences: int, seed: int) -> dict[str, int]:
    """Counts of outcomes of hostile ``sequences`` against the split checkpoint in ``folder``."""
    checkpoint = read_checkpoint(folder, folder.name)
    model = load_llama(
        checkpoint,
        planned(checkpoint, "auto", _ROOM, _CELL_BYTES),
        sessions=_SESSIONS,
        threads=1,
        out_of_memory=lambda _: MemoryError(),  # type: ignore[arg-type,return-value]
    )
    engine = Engine(model.runner, model.info, pass_rows=ROWS)
    engine.start()
    siege = Siege(model, engine, seed)
    try:
        siege.check()
        for number in range(sequences):
            siege.sequence()
            if number % _WITNESS_EVERY == 0:
                siege.check()
        siege.end()
    finally:
        asyncio.run(engine.stop())
    if engine.vitals.faults:
        raise AssertionError(f"{engine.vitals.faults} faults of the model's thread")
    return dict(siege.counts)


def main() -> None:
    options = _options()
    if options.inside is not None:
        print(json.dumps(besiege(options.inside, options.sequences, options.seed)))
        return
    with tempfile.TemporaryDirectory() as folder:
        finish(_problems(_checkpoint(Path(folder)), options))


def _checkpoint(folder: Path) -> Path:
    from tests.checkpoints import tiny_checkpoint
    from tests.llama_models import split_folder

    return split_folder(tiny_checkpoint("qwen2", folder / "hf"), folder).path


def _problems(folder: Path, options: argparse.Namespace) -> list[str]:
    command = [sys.executable, "-m", "scripts.bench.llama.hostile", "--inside", str(folder)]
    command += ["--sequences", str(options.sequences), "--seed", str(options.seed)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return [f"the process ended with {done.returncode}"]
    counts = json.loads(done.stdout.splitlines()[-1])
    print(f"{options.sequences:,} sequences, seed {options.seed}:", counts)
    return []


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sequences", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
