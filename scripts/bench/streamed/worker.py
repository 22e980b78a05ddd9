"""Passes of this engine as a worker.

``python -m scripts.bench.streamed.worker CHECKPOINT DTYPE``
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import torch

from scripts.bench.report import private_bytes
from scripts.bench.workers import Operations, serve
from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.layers.file import open_layer_file
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.streaming import LayersOnDisk, layer_file
from split_server.engine.streamed.slots import Slot
from split_server.kv.cache import KVCache
from split_server.memory.plan import MemoryPlan, shape_of
from split_server.memory.streaming import streaming
from split_server.memory.weights import weights_need

_PROMPT = 16
# Beside what is planned: modules, kernels loaded on first use (as ``memory.weights`` measured).
_BESIDES = 96 << 20


class StreamedWorker(Operations):
    """One model at a time, with any number of sessions of the same length."""

    def __init__(self, path: str, dtype: str) -> None:
        self._checkpoint = read_checkpoint(Path(path), "bench")
        self._dtype = dtype
        self._item = getattr(torch, dtype).itemsize
        self._base = private_bytes()
        self._backbone: Backbone | None = None
        self._on_disk: LayersOnDisk | None = None
        self._sessions: list[KVCache] = []
        self._length = 0

    def load(
        self, streamed: int, folder: str, threads: int, quantize: str = "none"
    ) -> dict[str, Any]:
        """The model with so many layers on disk; what it holds, and what was planned."""
        need = weights_need(self._checkpoint, self._item, quantize)
        if streamed:
            found = streaming(self._checkpoint, self._item, streamed, quantize)
            need = found.need
            file = layer_file(
                self._checkpoint,
                getattr(torch, self._dtype),
                Path(folder),
                str(self._checkpoint.path),
                quantize=quantize,
            )
            self._on_disk = LayersOnDisk(found.numbers, file)
        self._planned = self._base + need.kept + _BESIDES
        self._backbone = load_backbone(
            self._checkpoint,
            self._dtype,
            "cpu",
            linears="plain",
            quantize=quantize,
            threads=threads,
            on_disk=self._on_disk,
        )
        self._runner = ModelRunner(self._backbone, threads)
        self._runner.warm_up()
        return {"private": private_bytes(), "planned": self._planned}

    def open(self, sessions: int) -> dict[str, Any]:
        """So many sessions with the same short prompt; the states of the first as numbers."""
        self._sessions, self._length = [KVCache() for _ in range(sessions)], _PROMPT
        hidden = [
            self._runner.run([Slice(one, 0, self._rows(_PROMPT))])[0] for one in self._sessions
        ]
        return {"states": hidden[0][-1].float().tolist()}

    def step(self, ahead: int = 1) -> dict[str, Any]:
        """One pass with a row of each session, which stay as long as they are; its seconds."""
        slices = [Slice(one, self._length, self._rows(ahead)) for one in self._sessions]
        begun = time.perf_counter()
        hidden = self._runner.run(slices)
        seconds = time.perf_counter() - begun
        return {"seconds": seconds, "states": hidden[0][-1].float().tolist()}

    def read(self) -> dict[str, Any]:
        """Seconds in which all that a pass reads is read, while nothing computes."""
        assert self._on_disk is not None
        mine = self._on_disk.file
        file = open_layer_file(mine.path, mine.index.source)
        slot = Slot(file.index.largest)
        begun = time.perf_counter()
        for number in self._on_disk.numbers:
            file.read(number, slot.buffer)
        seconds = time.perf_counter() - begun
        file.close()
        return {"seconds": seconds, "direct": file.direct}

    def passes(self, count: int) -> dict[str, Any]:
        """So many passes of the sessions; the most private memory after any, and the plan."""
        shape = shape_of(self._checkpoint.config, self._item)
        plan = MemoryPlan(shape)
        caches = len(self._sessions) * plan.cache_bytes(self._length + 1)
        planned = self._planned + caches + plan.largest_workspace(self._length + 1)
        most = 0
        for _ in range(count):
            self.step()
            most = max(most, private_bytes())
        return {"most": most, "planned": planned}

    def _rows(self, count: int) -> torch.Tensor:
        backbone = self._backbone
        assert backbone is not None
        generator = torch.Generator().manual_seed(7)
        rows = torch.randn(count, backbone.info.hidden_size, generator=generator)
        return rows.to(backbone.dtype)


if __name__ == "__main__":
    with torch.inference_mode():
        serve(StreamedWorker(*sys.argv[1:3]).handle)
