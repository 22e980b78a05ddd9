"""The stock Hugging Face backbone as a worker.

``python -m scripts.bench.peers.stock CHECKPOINT DTYPE DEVICE THREADS``

Requests: ``hidden``, ``probe``, ``step`` and ``prefill`` as scripts.bench.step.runner has them, and
what the batch benchmark asks for: ``open``, ``decode``, ``states``, ``greedy``.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, DynamicCache

from scripts.bench.inputs import embedding_rows
from scripts.bench.keys_values import random_keys_values
from scripts.bench.timing import Lap, timed
from scripts.bench.workers import Operations, serve


class StockWorker(Operations):
    """Answers the requests with one unmodified model."""

    def __init__(self, path: str, dtype: str, device: str, threads: int) -> None:
        transformers.logging.set_verbosity_error()
        torch.set_num_threads(threads)
        self._dtype, self._device = getattr(torch, dtype), torch.device(device)
        model = AutoModelForCausalLM.from_pretrained(
            path, dtype=self._dtype, attn_implementation="sdpa"
        )
        self._model = model.to(self._device).eval()
        self._caches: dict[int, DynamicCache] = {}
        self._sessions: list[DynamicCache] = []

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request."""
        with torch.inference_mode():
            return super().handle(request)

    def hidden(self, rows: int, steps: int) -> dict[str, Any]:
        """Hidden states of the last ``steps`` of ``rows`` positions, each in a step of its own."""
        cache, inputs = DynamicCache(), self._rows(rows, seed=1)
        self._forward(cache, inputs[: rows - steps])
        out = [self._forward(cache, inputs[at : at + 1]) for at in range(rows - steps, rows)]
        return {"hidden": torch.cat(out).float().tolist()}

    def probe(self, context: int) -> dict[str, Any]:
        """The hidden state that follows the made-up cache of ``context`` positions."""
        cache = self._made_up(context)
        found = self._forward(cache, self._rows(1, seed=2))
        cache.crop(-1)
        return {"hidden": found.float().tolist()}

    def step(self, context: int, steps: int) -> dict[str, Any]:
        """Milliseconds of decode steps of one session."""
        cache, row = self._made_up(context), self._rows(1, seed=2)
        laps = [timed(lambda: self._forward(cache, row)) for _ in range(steps)]
        cache.crop(-steps)
        return Lap.columns(laps)

    def prefill(self, rows: int, repeats: int) -> dict[str, Any]:
        """Milliseconds of a prefill of ``rows`` positions in one pass."""
        inputs = self._rows(rows, seed=3)
        laps = [timed(lambda: self._forward(DynamicCache(), inputs)) for _ in range(repeats)]
        return Lap.columns(laps)

    def open(self, ids: list[list[int]]) -> dict[str, Any]:
        """Sessions with these prompts in their caches."""
        self._sessions = [DynamicCache() for _ in ids]
        for cache, prompt in zip(self._sessions, ids, strict=True):
            self._forward(cache, self._embedded(prompt))
        return {}

    def decode(self, sessions: int, tokens: int) -> dict[str, Any]:
        """Time of ``tokens`` steps of each session, one session after the other."""
        inputs = self._rows(tokens, seed=2)
        lap = timed(lambda: self._decode_all(sessions, inputs))
        for cache in self._sessions[:sessions]:
            cache.crop(-tokens)
        return {"seconds": 1e-3 * lap.ms, "cpu_seconds": 1e-3 * lap.cpu_ms}

    def states(self, tokens: int) -> dict[str, Any]:
        """Hidden states of ``tokens`` steps of every session, [sessions x tokens, H]."""
        found = self._decode_all(len(self._sessions), self._rows(tokens, seed=2))
        for cache in self._sessions:
            cache.crop(-tokens)
        return {"hidden": found.float().tolist()}

    def greedy(self, ids: list[list[int]], tokens: int) -> dict[str, Any]:
        """The answers of ``generate`` to each prompt."""
        return {"ids": [self._generate(prompt, tokens) for prompt in ids]}

    def _decode_all(self, sessions: int, inputs: torch.Tensor) -> torch.Tensor:
        out = [
            self._forward(cache, row[None]) for cache in self._sessions[:sessions] for row in inputs
        ]
        return torch.cat(out)

    def _generate(self, prompt: list[int], tokens: int) -> list[int]:
        ids = torch.tensor([prompt], device=self._device)
        mask = torch.ones_like(ids)
        out = self._model.generate(
            ids, attention_mask=mask, max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False
        )
        return [int(token) for token in out[0, len(prompt) :]]

    def _forward(self, cache: DynamicCache, rows: torch.Tensor) -> torch.Tensor:
        """The last hidden state [1, H] in main memory: a device picks the next token from it."""
        inputs = rows[None].to(self._device)
        out = self._model.model(inputs_embeds=inputs, past_key_values=cache, use_cache=True)
        return out.last_hidden_state[0, -1:].cpu()

    def _embedded(self, ids: list[int]) -> torch.Tensor:
        return self._model.get_input_embeddings()(torch.tensor(ids, device=self._device))

    def _rows(self, count: int, seed: int) -> torch.Tensor:
        rows = embedding_rows(count, self._model.config.hidden_size, seed)
        return torch.from_numpy(rows).to(self._dtype)

    def _made_up(self, context: int) -> DynamicCache:
        if context not in self._caches:
            config, cache = self._model.config, DynamicCache()
            for index in range(config.num_hidden_layers):
                both = random_keys_values(config, index, context, self._dtype)
                cache.update(*(part.to(self._device) for part in both), index)
            self._caches[context] = cache
        return self._caches[context]


if __name__ == "__main__":
    serve(StockWorker(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])).handle)
