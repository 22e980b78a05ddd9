"""The llama engine's runner as a worker.

``python -m scripts.bench.llama.runner FILE THREADS CELLS SESSIONS ATTENTION``. FILE: a middle;
ATTENTION: ``watched`` with the callback that attention rows come from, ``bare`` without. Requests:
``hidden``, ``step``, ``prefill`` as scripts.bench.step.runner has them, and ``other``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from scripts.bench.inputs import embedding_rows
from scripts.bench.timing import Lap, timed
from scripts.bench.workers import Operations, serve
from split_server.engine.model.packed import Slice
from split_server.kv.session_cache import SessionCache
from split_server.llama.cells import Cells
from split_server.llama.context import Context, ContextOptions
from split_server.llama.library import open_library
from split_server.llama.runner import LlamaRunner
from split_server.llama.trial import tried
from split_server.llama.watch import Watch
from split_wire.attention import AttentionRequest

_ROWS_AT_ONCE = 128
# Of any model: no row is watched but where attention is asked for, and then shapes are checked.
_ITEM = 2


class LlamaRunnerWorker(Operations):
    """Answers the requests with one context."""

    def __init__(self, file: Path, threads: int, cells: int, sessions: int, watched: bool) -> None:
        library = open_library()
        options = ContextOptions(cells, sessions, _ROWS_AT_ONCE, threads, "f16")
        options = tried(file, options)
        functions = library.functions
        watch = Watch(library, 0)
        self._context = Context(library, file, options, watch.callback if watched else None)
        native = self._context._model
        watch._heads = int(functions.llama_model_n_head(native))
        layers = int(functions.llama_model_n_layer(native))
        self._cells = Cells(cells, _ITEM, sessions)
        self._width = self._context.width
        info: Any = SimpleNamespace(
            hidden_size=self._width, num_layers=layers, num_heads=watch._heads, dtype="f16"
        )
        self._runner = LlamaRunner(self._context, self._cells, watch, info, MemoryError)
        self._caches: list[SessionCache] = []
        self._reordered = options.reordered

    def facts(self) -> dict[str, Any]:
        """The version, and whether matrices lie in an order for this processor."""
        return {"version": open_library().version, "reordered": self._reordered}

    def hidden(self, rows: int, steps: int) -> dict[str, Any]:
        """Hidden states of the last ``steps`` of ``rows`` positions, each in a step of its own."""
        inputs = torch.from_numpy(embedding_rows(rows, self._width, seed=1))
        cache = self._cells.new()
        self._prefill(cache, inputs[: rows - steps])
        out = [self._run([cache], inputs[at : at + 1]) for at in range(rows - steps, rows)]
        cache.release()
        return {"hidden": torch.cat(out).tolist()}

    def step(self, context: int, sessions: int, steps: int, attention: bool = False) -> Any:
        """Milliseconds of decode steps of ``sessions`` sessions; ``attention``: all rows of the
        first one are asked for.
        """
        self._fill(context, sessions)
        row = torch.from_numpy(embedding_rows(1, self._width, seed=2))
        caches = self._caches[:sessions]
        laps = [timed(lambda: self._run(caches, row, attention)) for _ in range(steps)]
        for cache in caches:
            cache.truncate(context)
        return Lap.columns(laps)

    def prefill(self, rows: int, repeats: int) -> dict[str, Any]:
        """Milliseconds of a prefill of ``rows`` positions."""
        inputs = torch.from_numpy(embedding_rows(rows, self._width, seed=3))
        laps = []
        for _ in range(repeats):
            cache = self._cells.new()
            laps.append(timed(lambda cache=cache: self._prefill(cache, inputs)))
            cache.release()
        return Lap.columns(laps)

    def other(self, positions: int) -> dict[str, Any]:
        """Have another session hold ``positions`` and do nothing."""
        inputs = torch.from_numpy(embedding_rows(positions, self._width, seed=4))
        self._prefill(self._cells.new(), inputs)
        return {}

    def _fill(self, context: int, sessions: int) -> None:
        while len(self._caches) < sessions:
            self._caches.append(self._cells.new())
        inputs = torch.from_numpy(embedding_rows(context, self._width, seed=1))
        for cache in self._caches[:sessions]:
            if cache.length < context:
                self._prefill(cache, inputs[cache.length :])

    def _prefill(self, cache: SessionCache, inputs: torch.Tensor) -> None:
        for part in inputs.split(_ROWS_AT_ONCE):
            self._runner.run([Slice(cache, cache.length, part)])

    def _run(
        self, caches: list[SessionCache], row: torch.Tensor, attention: bool = False
    ) -> torch.Tensor:
        slices = [Slice(cache, cache.length, row) for cache in caches]
        if attention:
            length = caches[0].length + 1
            slices[0].tap = self._runner.tap(AttentionRequest(heads="mean"), length)
        found = torch.cat(self._runner.run(slices))
        if slices[0].tap is not None:
            slices[0].tap.rows()
        return found


if __name__ == "__main__":
    file, threads, cells, sessions, attention = sys.argv[1:6]
    torch.set_num_threads(1)
    worker = LlamaRunnerWorker(
        Path(file), int(threads), int(cells), int(sessions), attention == "watched"
    )
    serve(worker.handle)
