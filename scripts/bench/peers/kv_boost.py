"""KVBoost as a worker: ``python -m scripts.bench.peers.kv_boost CHECKPOINT DTYPE THREADS``.

Runs in an environment that has kvboost beside torch and transformers. It takes text, so prompts are
texts of numbers here, which a tokenizer of this file reads.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import sys
import time
from typing import Any

import torch
from kvboost import KVBoost
from kvboost.engine import GenerationMode
from transformers import AutoModelForCausalLM

from scripts.bench.workers import Operations, serve

_BYTES = 4 << 30


class Numbers:
    """Token ids as text; no token ends a text."""

    pad_token_id = 0
    eos_token_id = bos_token_id = None

    def encode(self, text: str, **_: Any) -> list[int]:
        """The ids; a word that is none, such as the marks that the engine looks for, has none."""
        return [int(word) for word in text.split() if word.isdigit()]

    def decode(self, ids: list[int], **_: Any) -> str:
        """The text."""
        return " ".join(map(str, ids))


class KVBoostWorker(Operations):
    """Answers the requests with one model."""

    def __init__(self, path: str, dtype: str, threads: int) -> None:
        torch.set_num_threads(threads)
        model = AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, dtype)).eval()
        self._numbers, self._model = Numbers(), model

    def facts(self) -> dict[str, Any]:
        """Its version."""
        return {"version": importlib.metadata.version("kvboost")}

    def keep(self, ids: list[int], chunk: int) -> dict[str, Any]:
        """Compute ``ids`` and keep them in chunks of so many, which know nothing of each other."""
        self._engine = KVBoost(
            model=self._model,
            tokenizer=self._numbers,
            max_cache_bytes=_BYTES,
            chunk_size=chunk,
            device="cpu",
        )
        self._engine.warm(self._numbers.decode(ids))
        return {}

    def compared(self, kept: list[int], ids: list[int], chunk: int, tokens: int) -> dict[str, Any]:
        """Greedy ``tokens`` after ``ids`` where the chunks of ``kept`` are known, and without any.
        It takes no chunk behind one that it does not know, so that the first one of ``ids`` is kept
        as well. ``kl``: in nats, of what is predicted first from what is predicted plainly;
        ``cached``: tokens of ``ids`` that were known.
        """
        self.keep(kept, chunk)
        self._engine.warm(self._numbers.decode(ids[:chunk]))
        right, found = list[int](), list[int]()
        plain, reused = (
            self._engine.generate(
                self._numbers.decode(ids),
                max_new_tokens=tokens,
                mode=GenerationMode(mode),
                do_sample=False,
                on_token=heard.append,
            )
            for mode, heard in (("baseline", right), ("chunk_kv_reuse", found))
        )
        logits = (torch.tensor(each.first_token_logits).double() for each in (plain, reused))
        one, other = (each.log_softmax(0) for each in logits)
        kl = float((one.exp() * (one - other)).sum())
        return {"right": right, "ids": found, "kl": kl, "cached": reused.cached_tokens}

    def first(self, ids: list[int], tokens: int, mode: str) -> dict[str, Any]:
        """Greedy ``tokens`` after ``ids``; ``mode``: baseline, prefix_cache or chunk_kv_reuse.

        ``ms``: from the call to the first token, which its own ``ttft_ms`` is not: that begins
        after the cache was put together. ``cached``: tokens of ``ids`` that came from it.
        """
        found: list[int] = []
        times: list[float] = []

        def heard(token: int) -> None:
            times.append(time.perf_counter())
            found.append(token)

        began = time.perf_counter()
        made = self._engine.generate(
            self._numbers.decode(ids),
            max_new_tokens=tokens,
            mode=GenerationMode(mode),
            do_sample=False,
            on_token=heard,
        )
        return {"ids": found, "ms": 1e3 * (times[0] - began), "cached": made.cached_tokens}


if __name__ == "__main__":
    # Its messages would mix with the answers.
    with contextlib.redirect_stdout(sys.stderr):
        worker = KVBoostWorker(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    serve(worker.handle)
