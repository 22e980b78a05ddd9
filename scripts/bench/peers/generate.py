"""Hugging Face ``generate`` as a worker.

``python -m scripts.bench.peers.generate CHECKPOINT DTYPE``
"""

from __future__ import annotations

import sys
import time
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, StoppingCriteria, StoppingCriteriaList

from scripts.bench.workers import Operations, serve


class Stopwatch(StoppingCriteria):
    """Notes when each token is there."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, input_ids: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        self.times.append(time.perf_counter())
        return torch.zeros(input_ids.shape[0], dtype=torch.bool)


class GenerateWorker(Operations):
    """Answers ``generate`` and ``check`` requests with one loaded model."""

    def __init__(self, path: str, dtype: str) -> None:
        transformers.logging.set_verbosity_error()
        model = AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, dtype))
        self._model = model.eval()

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request."""
        with torch.inference_mode():
            return super().handle(request)

    def generate(self, ids: list[int], tokens: int) -> dict[str, Any]:
        """Greedy ids and the seconds from the first to the last token."""
        prompt, watch = torch.tensor([ids]), Stopwatch()
        out = self._model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=tokens,
            do_sample=False,
            stopping_criteria=StoppingCriteriaList([watch]),
        )
        return {"ids": out[0, len(ids) :].tolist(), "seconds": watch.times[-1] - watch.times[0]}

    def check(self, ids: list[int], new: list[int]) -> dict[str, Any]:
        """The shortfall of ids of ``new`` from the best logit, in logits' deviations."""
        # The head of a whole prompt is a fifth of the work and a gigabyte of logits.
        found = self._model(torch.tensor([ids + new]), logits_to_keep=len(new) + 1)
        logits = found.logits[0, :-1].float()
        chosen = logits.gather(1, torch.tensor(new)[:, None])[:, 0]
        short = (logits.max(dim=1).values - chosen) / logits.std(dim=1)
        return {"short": short.max().item()}


if __name__ == "__main__":
    serve(GenerateWorker(sys.argv[1], sys.argv[2]).handle)
