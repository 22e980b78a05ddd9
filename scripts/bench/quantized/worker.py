"""A model kept in one way, as a worker: ``python -m scripts.bench.quantized.worker MODEL WAY``.

Requests: ``states``, ``greedy``, ``part``, ``kept``, and those of scripts.bench.step.runner.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from scripts.bench.quantized.ends import Ends
from scripts.bench.quantized.one_byte import one_byte_linears
from scripts.bench.quantized.parts import PARTS, rounded
from scripts.bench.report import private_bytes
from scripts.bench.step.runner import RunnerWorker
from scripts.bench.workers import serve
from split_server.engine.linears.int4.quantize import int4_linears
from split_server.engine.model.packed import Slice
from split_server.kv.cache import KVCache

FLOAT32, BFLOAT16, INT8, ONE_BYTE = "float32", "bfloat16", "int8", "int8, one byte an input"
INT4, NEAREST = "int4", "int4, rounded to the nearest"
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    FLOAT32: ("float32", {"linears": "plain"}),
    BFLOAT16: ("bfloat16", {"linears": "packed"}),
    INT8: ("bfloat16", {"quantize": "int8"}),
    ONE_BYTE: ("bfloat16", {"linears": "plain"}),
    INT4: ("bfloat16", {"quantize": "int4"}),
    NEAREST: ("bfloat16", {"linears": "plain"}),
}
_ROWS_AT_ONCE = 256


class WayWorker(RunnerWorker):
    """Answers the requests with the model kept in one of ``WAYS``."""

    def __init__(self, path: Path, way: str) -> None:
        dtype, options = WAYS[way]
        super().__init__(path, dtype, {**options, "threads": 1})
        if way == ONE_BYTE:
            one_byte_linears(self._backbone.module)
        if way == NEAREST:
            int4_linears(self._backbone.module, None)
        self._ends = Ends(path)

    def states(self, sequences: Sequence[Sequence[int]], file: str) -> dict[str, Any]:
        """Saves the float32 hidden states of all sequences, one after the other."""
        torch.save(torch.cat([self._states(ids) for ids in sequences]), file)
        return {}

    def part(self, index: int, sequences: Sequence[Sequence[int]], file: str) -> dict[str, Any]:
        """The same with one part of quantization."""
        with rounded(self._backbone.module, PARTS[index]):
            return self.states(sequences, file)

    def greedy(self, prompts: Sequence[Sequence[int]], tokens: int) -> dict[str, Any]:
        """The likeliest ``tokens`` that follow each of the prompts, all of them in one pass."""
        caches = [KVCache() for _ in prompts]
        replies: list[list[int]] = [[] for _ in prompts]
        inputs = list(prompts)
        for _ in range(tokens):
            slices = [
                Slice(cache, cache.length, self._ends.rows(ids).to(self._backbone.dtype))
                for cache, ids in zip(caches, inputs, strict=True)
            ]
            last = torch.stack([hidden[-1] for hidden in self._runner.run(slices)])
            inputs = self._ends.logits(last).argmax(dim=-1, keepdim=True).tolist()
            for reply, new in zip(replies, inputs, strict=True):
                reply.extend(new)
        return {"replies": replies}

    def kept(self) -> dict[str, Any]:
        """How the linear layers are kept, and the private bytes of this process."""
        return {"linears": self._backbone.linears, "private": private_bytes()}

    def _states(self, ids: Sequence[int]) -> torch.Tensor:
        cache = KVCache()
        rows = self._ends.rows(ids).to(self._backbone.dtype).split(_ROWS_AT_ONCE)
        found = [self._runner.run([Slice(cache, cache.length, part)])[0] for part in rows]
        return torch.cat(found).float()


if __name__ == "__main__":
    serve(WayWorker(Path(sys.argv[1]), sys.argv[2]).handle)
