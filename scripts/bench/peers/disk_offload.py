"""Layers on disk by accelerate: ``python -m scripts.bench.peers.disk_offload CHECKPOINT DTYPE``.

Runs in an environment that has accelerate beside torch and transformers.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import torch
import transformers
from transformers import AutoConfig, AutoModel, DynamicCache

from scripts.bench.workers import Operations, serve

_PROMPT = 16


class DiskOffloadWorker(Operations):
    """One session of the backbone alone, fed with rows."""

    def __init__(self, path: str, dtype: str) -> None:
        self._path, self._dtype = path, getattr(torch, dtype)
        transformers.logging.set_verbosity_error()

    def load(self, folder: str, threads: int) -> dict[str, Any]:
        """The model with every decoder layer on disk."""
        torch.set_num_threads(threads)
        config = AutoConfig.from_pretrained(self._path)
        layers = {f"layers.{number}": "disk" for number in range(config.num_hidden_layers)}
        places = {"embed_tokens": "disk", "norm": "cpu", "rotary_emb": "cpu", **layers}
        self._model = AutoModel.from_pretrained(
            self._path, dtype=self._dtype, device_map=places, offload_folder=folder
        ).eval()
        self._width = config.hidden_size
        return {}

    def open(self) -> dict[str, Any]:
        """A session with a short prompt; its last state as numbers."""
        self._cache = DynamicCache(config=self._model.config)
        return {"states": self._states(_PROMPT)}

    def step(self) -> dict[str, Any]:
        """One pass over a row behind the prompt; its seconds."""
        begun = time.perf_counter()
        states = self._states(1)
        seconds = time.perf_counter() - begun
        self._cache.crop(-1)
        return {"seconds": seconds, "states": states}

    def _states(self, count: int) -> list[float]:
        generator = torch.Generator().manual_seed(7)
        rows = torch.randn(1, count, self._width, generator=generator).to(self._dtype)
        with torch.inference_mode():
            found = self._model(inputs_embeds=rows, past_key_values=self._cache, use_cache=True)
        states: list[float] = found.last_hidden_state[0, -1].float().tolist()
        return states


if __name__ == "__main__":
    serve(DiskOffloadWorker(*sys.argv[1:3]).handle)
