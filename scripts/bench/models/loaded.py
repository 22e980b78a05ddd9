"""A model that is loaded as a server does, with one session that decodes."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

import torch
from transformers import AutoModelForCausalLM

from split_server.engine.job import EngineResult, StepJob
from split_server.kv.cache import KVCache
from split_server.serving.config import ServerConfig
from split_server.serving.loading.loading import Loading
from split_server.serving.models.naming import NamedModel
from split_wire.tensor import Tensor

_PROMPT = [11, 7, 23, 5, 42, 3, 9, 17]
_PREFIX = 64
# What a device on the same machine needs for a token.
_DEVICE_SECONDS = 0.0005


class Step(NamedTuple):
    """When it began, and what it took, in seconds."""

    begun: float
    seconds: float


class Loaded:
    """``loading``: of all models of the process; ``threads`` of a product."""

    def __init__(self, loading: Loading, path: Path, threads: int) -> None:
        config = ServerConfig(
            model=str(path),
            dtype="float32",
            threads=threads,
            compat=False,
            kv_reuse="off",
            web_root="none",
        )
        self.parts = loading.parts(NamedModel(path.name, config))
        self._engine = self.parts.steps._engine
        self.parts.steps.start()

    def close(self) -> None:
        """Let it go, its memory too."""
        asyncio.run(self.parts.steps.stop())
        self.parts.let_go()
        del self.parts, self._engine
        gc.collect()

    def step(self, cache: KVCache, start: int, rows: Tensor) -> EngineResult:
        """One step of ``rows`` behind ``start`` positions."""
        outcome: Future[Any] = Future()
        self._engine.post(StepJob(cache, start, rows, "last", "f32"), outcome.set_result)
        result = outcome.result()
        if isinstance(result, Exception):
            raise result
        assert isinstance(result, EngineResult)
        return result

    def decode(self, stop: threading.Event, count: int = 1 << 30) -> list[Step]:
        """Steps of one row behind 64 positions until ``stop`` is set, ``count`` at most."""
        width = self._engine.info.hidden_size
        cache, row = KVCache(), Tensor("f32", (1, width), bytes(4 * width))
        self.step(cache, 0, Tensor("f32", (_PREFIX, width), bytes(4 * width * _PREFIX)))
        steps: list[Step] = []
        while len(steps) < count and not stop.is_set():
            begun = time.perf_counter()
            self.step(cache, _PREFIX, row)
            steps.append(Step(begun, time.perf_counter() - begun))
            time.sleep(_DEVICE_SECONDS)
        cache.release()
        return steps

    def check(self, path: Path, tokens: int = 16) -> None:
        """End the program unless greedy tokens are those of ``generate``."""
        whole = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
        with torch.inference_mode():
            ids = torch.tensor([_PROMPT])
            mask = torch.ones_like(ids)
            said = whole.generate(ids, attention_mask=mask, max_new_tokens=tokens, do_sample=False)
            expected = said[0, len(_PROMPT) :].tolist()
            cache, start, new = KVCache(), 0, list(_PROMPT)
            found: list[int] = []
            while len(found) < len(expected):
                rows = whole.get_input_embeddings()(torch.tensor(new)).numpy()
                hidden = self.step(cache, start, Tensor.from_f32(rows, "f32")).hidden.to_f32()
                start += len(new)
                new = [int(whole.lm_head(torch.from_numpy(hidden.copy()))[0].argmax())]
                found += new
        if found != expected:
            raise SystemExit(f"{path.name}: other tokens than generate's")
