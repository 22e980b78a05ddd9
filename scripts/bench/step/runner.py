"""Our model runner as a worker: ``python -m scripts.bench.step.runner CHECKPOINT DTYPE OPTIONS``.

OPTIONS: JSON of what ``load_backbone`` takes, with the number of threads. Requests: ``hidden``,
``probe``, ``step``, ``prefill``, ``facts``, ``bandwidth``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

from scripts.bench.inputs import embedding_rows
from scripts.bench.keys_values import random_keys_values
from scripts.bench.step.bandwidth import read_bandwidth
from scripts.bench.timing import Lap, timed
from scripts.bench.workers import Operations, serve
from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model import packed
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache

_ROWS_AT_ONCE = 256


class RunnerWorker(Operations):
    """Answers the requests with one loaded backbone."""

    def __init__(self, path: Path, dtype: str, options: dict[str, Any]) -> None:
        self._backbone = load_backbone(read_checkpoint(path, path.name), dtype, "cpu", **options)
        self._runner = ModelRunner(self._backbone, options["threads"])
        self._runner.warm_up()
        self._config = self._backbone.module.config
        self._caches: dict[int, list[KVCache]] = {}
        self._clock = _AttentionClock()

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request."""
        with torch.inference_mode():
            return super().handle(request)

    def hidden(self, rows: int, steps: int) -> dict[str, Any]:
        """Hidden states of the last ``steps`` of ``rows`` positions, each in a step of its own."""
        cache, inputs = KVCache(), self._rows(rows, seed=1)
        self._prefill(cache, inputs[: rows - steps])
        out = [self._run([cache], inputs[at : at + 1]) for at in range(rows - steps, rows)]
        return {"hidden": torch.cat(out).float().tolist()}

    def probe(self, context: int) -> dict[str, Any]:
        """The hidden state that follows the made-up cache of ``context`` positions."""
        (cache,) = self._sessions(context, 1)
        found = self._run([cache], self._rows(1, seed=2))
        cache.truncate(context)
        return {"hidden": found.float().tolist()}

    def step(self, context: int, sessions: int, steps: int) -> dict[str, Any]:
        """Milliseconds of decode steps of ``sessions`` sessions, and of their attention."""
        caches, row = self._sessions(context, sessions), self._rows(1, seed=2)
        laps: list[Lap] = []
        attention: list[float] = []
        for _ in range(steps):
            before = self._clock.seconds
            laps.append(timed(lambda: self._run(caches, row)))
            attention.append(1e3 * (self._clock.seconds - before))
        for cache in caches:
            cache.truncate(context)
        return {**Lap.columns(laps), "attention_ms": attention}

    def prefill(self, rows: int, repeats: int) -> dict[str, Any]:
        """Milliseconds of a prefill of ``rows`` positions in one pass."""
        inputs = self._rows(rows, seed=3)
        cache = KVCache()
        laps = [timed(lambda: self._runner.run([Slice(cache, 0, inputs)])) for _ in range(repeats)]
        return Lap.columns(laps)

    def facts(self) -> dict[str, Any]:
        """The kind of the linear layers, their values, and bytes of cache per position."""
        matrices = sum(p.numel() for p in self._backbone.parameters if p.dim() == 2)
        return {
            "linears": self._backbone.linears,
            "matrix_values": matrices,
            "cache_bytes": self._backbone.info.kv_bytes_per_position,
        }

    def bandwidth(self) -> dict[str, Any]:
        """Bytes per second that this machine reads."""
        return {"bytes_per_second": read_bandwidth()}

    def _run(self, caches: list[KVCache], row: torch.Tensor) -> torch.Tensor:
        return torch.cat(self._runner.run([Slice(cache, cache.length, row) for cache in caches]))

    def _prefill(self, cache: KVCache, inputs: torch.Tensor) -> None:
        for part in inputs.split(_ROWS_AT_ONCE):
            self._runner.run([Slice(cache, cache.length, part)])

    def _rows(self, count: int, seed: int) -> torch.Tensor:
        rows = embedding_rows(count, self._config.hidden_size, seed)
        return torch.from_numpy(rows).to(self._backbone.dtype)

    def _sessions(self, context: int, count: int) -> list[KVCache]:
        known = self._caches.setdefault(context, [])
        while len(known) < count:
            known.append(self._made_up(context))
        return known[:count]

    def _made_up(self, context: int) -> KVCache:
        cache = KVCache()
        for index in range(self._config.num_hidden_layers):
            cache.layer(index).append(
                *random_keys_values(self._config, index, context, self._backbone.dtype)
            )
        cache.grown_to(context)
        return cache


class _AttentionClock:
    """Seconds spent in the attention of single rows, as the pass calls it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        attend = packed.attend_one

        def attend_one(*arguments: Any) -> torch.Tensor:
            begin = time.perf_counter()
            attended = attend(*arguments)
            self.seconds += time.perf_counter() - begin
            return attended

        packed.attend_one = attend_one


if __name__ == "__main__":
    serve(RunnerWorker(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])).handle)
