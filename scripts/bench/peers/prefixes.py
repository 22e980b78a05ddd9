"""Hugging Face ``generate`` behind a copied cache, as a worker.

``python -m scripts.bench.peers.prefixes CHECKPOINT DTYPE``

What a program does by hand: it computes a prefix once, and for each prompt that begins with it
gives ``generate`` a copy of the ``DynamicCache``, because ``generate`` writes into it.
"""

from __future__ import annotations

import copy
import sys
import time
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, DynamicCache

from scripts.bench.workers import Operations, serve


class PrefixWorker(Operations):
    """Answers ``keep`` and ``first`` requests with one loaded model."""

    def __init__(self, path: str, dtype: str) -> None:
        transformers.logging.set_verbosity_error()
        self._model = AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, dtype)).eval()
        self._kept = DynamicCache()

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request."""
        with torch.inference_mode():
            return super().handle(request)

    def keep(self, ids: list[int]) -> dict[str, Any]:
        """Compute ``ids``, which :meth:`first` goes on from."""
        self._kept = DynamicCache()
        # Of the last token alone: logits of a whole prompt are a gigabyte.
        self._model(torch.tensor([ids]), past_key_values=self._kept, logits_to_keep=1)
        return {}

    def first(self, ids: list[int], tokens: int, reuse: bool) -> dict[str, Any]:
        """Greedy ``tokens`` after ``ids``; ``ms`` when one is asked for: the time to the first."""
        prompt = torch.tensor([ids])
        began = time.perf_counter()
        kept = copy.deepcopy(self._kept) if reuse else None
        out = self._model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            past_key_values=kept,
            max_new_tokens=tokens,
            do_sample=False,
        )
        ms = 1e3 * (time.perf_counter() - began)
        return {"ids": out[0, len(ids) :].tolist(), "ms": ms}


if __name__ == "__main__":
    serve(PrefixWorker(sys.argv[1], sys.argv[2]).handle)
