"""Greedy tokens in one process and one thread: ``python -m scripts.real.models.token_worker KIND
FOLDER CACHE``; KIND: f32, bf16, int8 (ours, with the exact head) or stock (Hugging Face in
bfloat16, its own head).

Requests: ``tokens`` (ids and milliseconds of each after ``ids``), ``facts``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import DynamicCache

from scripts.bench.report import private_bytes
from scripts.bench.workers import Operations, serve
from scripts.real.models.ours import Middle
from scripts.real.models.stock import stock
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_server.kv.cache import KVCache

_OURS = {"f32": ("float32", "none"), "bf16": ("bfloat16", "none"), "int8": ("bfloat16", "int8")}
_TABLE = "model.embed_tokens.weight"
Step = Callable[[list[int]], int]


class TokenWorker(Operations):
    """Answers the requests with one loaded model."""

    def __init__(self, kind: str, folder: Path, cache: Path) -> None:
        torch.set_num_threads(1)
        self._linears = "torch's own, weights mapped from the file"
        self._begin = self._ours(kind, folder, cache) if kind in _OURS else _stock(folder)

    def tokens(self, ids: list[int], count: int) -> dict[str, Any]:
        """The reply's ids, and the milliseconds of each after the first."""
        step, made, laps = self._begin(), list[int](), list[float]()
        for _ in range(count):
            begin = time.perf_counter()
            ids = [step(ids)]
            made += ids
            laps.append(1e3 * (time.perf_counter() - begin))
        return {"ids": made, "ms": laps[1:]}

    def facts(self) -> dict[str, Any]:
        """How linear layers are kept, private memory in bytes."""
        return {"linears": self._linears, "private": private_bytes()}

    def _ours(self, kind: str, folder: Path, cache: Path) -> Callable[[], Step]:
        rows = _rows(folder, cache)
        head = ExactLMHead.open(rows, screen_path=cache / "screen", threads=1)
        middle = Middle(folder, *_OURS[kind], threads=1)
        self._linears = middle.linears

        def begin() -> Step:
            held = KVCache()

            def step(ids: list[int]) -> int:
                values = torch.from_numpy(rows.take(ids))
                last = middle.states(values, held, held.length)[-1]
                return int(head.top(last.numpy(), 1).ids[0])

            return step

        return begin


def _rows(folder: Path, cache: Path) -> WeightRows:
    """The table as a device maps it: rows alone, without a header."""
    path = cache / "rows"
    table = load_file(folder / "model.safetensors")[_TABLE]
    if not path.exists():
        path.write_bytes(table.contiguous().view(torch.uint8).numpy().tobytes())
    return WeightRows.open(path, "bf16", *table.shape)


def _stock(folder: Path) -> Callable[[], Step]:
    model = stock(folder, "bfloat16")

    def begin() -> Step:
        held = DynamicCache()

        def step(ids: list[int]) -> int:
            with torch.inference_mode():
                out = model(torch.tensor([ids]), past_key_values=held, logits_to_keep=1)
                return int(out.logits[0, -1].argmax())

        return step

    return begin


if __name__ == "__main__":
    serve(TokenWorker(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])).handle)
