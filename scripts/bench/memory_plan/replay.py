"""The memory that a refused step would have taken: the same model in a process without a limit.

``python -m scripts.bench.memory_plan.replay MODEL LIMIT LINEARS``; one refusal per line of
JSON comes in.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from scripts.bench.workers import serve

_SECONDS = 0.001
_ROWS = 512


class Replay:
    """The state of the server at the refusal, without computing how it came about."""

    def __init__(self, model: str, limit: int, linears: str) -> None:
        from split_server.memory.allocator import give_back_large_blocks
        from split_server.memory.usage import process_usage
        from split_server.serving.config import ServerConfig
        from split_server.serving.startup import load_parts

        give_back_large_blocks()
        self._parts = load_parts(ServerConfig(model=model, threads=1, linears=linears))
        self._parts.steps.start()
        self._runner = self._parts.steps._engine._runner
        self._info = self._parts.steps.info
        self._limit = limit
        self._data = lambda: process_usage().data

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Bytes of private mappings at the most; filling stops beyond the limit."""
        from split_server.kv.cache import KVCache

        self._have_threads(request["threads"])
        before = self._data()
        caches: list[KVCache] = []
        for positions in request["others"]:
            caches.append(KVCache())
            self._fill(caches[-1], positions)
        caches.append(KVCache())
        self._fill(caches[-1], request["own"])
        caches[-1].truncate(request["start"])
        peak = self._step(caches[-1], request["start"] + request["rows"])
        for cache in caches:
            cache.release()
        return {"before": before, "peak": peak}

    def _have_threads(self, count: int) -> None:
        """As many as the server had: their stacks are private memory too."""
        while threading.active_count() < count:
            threading.Thread(target=threading.Event().wait, daemon=True).start()

    def _step(self, cache: Any, end: int) -> int:
        """The last pass of the step over a cache that holds what precedes it."""
        import torch

        from split_server.engine.model.packed import Slice

        # Every position is counted from the cache's own buffers up.
        first = max(cache.length, end - _ROWS)
        self._fill(cache, first)
        if self._data() > self._limit:
            return self._data()
        rows = torch.zeros(end - first, self._info.hidden_size)
        with _Peak(self._data) as peak:
            self._runner.run([Slice(cache, first, rows)])
        return peak.most

    def _fill(self, cache: Any, positions: int) -> None:
        """Let every layer hold ``positions``, a slice at a time, as prompts come."""
        import torch

        model = self._runner._backbone.module.config
        heads = model.num_key_value_heads
        width = getattr(model, "head_dim", None) or model.hidden_size // model.num_attention_heads
        while cache.length < positions and self._data() <= self._limit:
            count = min(_ROWS, positions - cache.length)
            rows = torch.zeros(1, 1, 1, 1).expand(1, heads, count, width)
            for layer in range(self._info.num_layers):
                cache.layer(layer).append(rows, rows)
            cache.grown_to(cache.length + count)


class _Peak:
    """The most that ``read`` gave while it was entered."""

    def __init__(self, read: Any) -> None:
        self._read = read
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.most = 0

    def __enter__(self) -> _Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(_SECONDS):
            self.most = max(self.most, self._read())


if __name__ == "__main__":
    serve(Replay(sys.argv[1], int(sys.argv[2]), sys.argv[3]).handle)
