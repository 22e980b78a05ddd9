"""The middle as the server's engine runs it, in this process; hidden states in float32."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.tap import AttentionTap
from split_server.kv.cache import KVCache
from split_wire.attention import AttentionRequest

_ROWS_AT_ONCE = 256


class Middle:
    """Decoder layers and final norm. ``linears``: how their matrices are kept, in words."""

    def __init__(self, folder: Path, dtype: str, quantize: str = "none", threads: int = 0) -> None:
        checkpoint = read_checkpoint(folder, folder.name)
        self._backbone = load_backbone(checkpoint, dtype, "cpu", quantize=quantize, threads=threads)
        self._runner = ModelRunner(self._backbone, threads)
        self._runner.warm_up()
        self.linears = self._backbone.linears

    def states(
        self, rows: torch.Tensor, cache: KVCache | None = None, start: int = 0
    ) -> torch.Tensor:
        """Hidden states float32 [n, H] of embeddings [n, H] after ``start`` positions of
        ``cache``.
        """
        held = cache if cache is not None else KVCache()
        found = []
        for part in rows.to(self._backbone.dtype).split(_ROWS_AT_ONCE):
            found += self._runner.run([Slice(held, start, part)])
            start += len(part)
        return torch.cat(found).float()

    def next(self, caches: Sequence[KVCache], rows: torch.Tensor) -> torch.Tensor:
        """One more position [n, H] of each of n sessions in one pass; float32 [n, H]."""
        rows = rows.to(self._backbone.dtype)
        slices = [
            Slice(cache, cache.length, row[None]) for cache, row in zip(caches, rows, strict=True)
        ]
        return torch.cat(self._runner.run(slices)).float()

    def watched(self, cache: KVCache, row: torch.Tensor) -> torch.Tensor:
        """The attention [layers, heads, positions] of one more position ``row`` [1, H]."""
        tap = self._runner.tap(AttentionRequest(), cache.length + 1)
        self._run_watched(cache, row, tap)
        return tap.rows().values

    def _run_watched(self, cache: KVCache, row: torch.Tensor, tap: AttentionTap) -> None:
        self._runner.run([Slice(cache, cache.length, row.to(self._backbone.dtype), tap)])
