"""Our engine as a worker: ``python -m scripts.bench.batch.engine CHECKPOINT DTYPE OPTIONS``.

OPTIONS: JSON of what ``load_backbone`` takes, with the number of threads. Every session has a
thread that submits a step, waits for its reply and submits the next one, as devices do. Requests:
``open``, ``decode``, ``states``, ``greedy``, ``facts``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import safe_open

from scripts.bench.inputs import embedding_rows
from scripts.bench.timing import timed
from scripts.bench.workers import Operations, serve
from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.engine import Engine
from split_server.engine.job import Outcome, StepJob
from split_server.engine.model.convert import to_torch, to_wire
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.threads import on_passing_thread
from split_server.kv.cache import KVCache
from split_wire.tensor import Tensor

_ROWS_PER_STEP = 512
_SEED = 2
_Result = TypeVar("_Result")


class CountingRunner(ModelRunner):
    """A runner that counts its passes."""

    passes = 0

    def run(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        """One pass."""
        self.passes += 1
        return super().run(slices)


class EngineWorker(Operations):
    """Answers the requests with one running engine."""

    def __init__(self, path: Path, dtype: str, options: dict[str, Any]) -> None:
        device = options.pop("device")
        self._backbone = on_passing_thread(
            lambda: load_backbone(read_checkpoint(path, path.name), dtype, device, **options)
        )
        self._runner = CountingRunner(self._backbone, options["threads"])
        self._engine = Engine(self._runner, self._backbone.info)
        self._engine.start()
        self._caches: list[KVCache] = []
        self._context = 0
        # The backbone does not keep them; loaded here, once, because sessions are threads.
        self._table, self._head = _ends(path, self._backbone.dtype)

    def facts(self) -> dict[str, Any]:
        """The kind of the linear layers."""
        return {"linears": self._backbone.linears}

    def open(self, ids: list[list[int]]) -> dict[str, Any]:
        """Sessions with these prompts, which are equally long, in their caches."""
        self._caches = [KVCache() for _ in ids]
        self._context = len(ids[0])
        self._together(lambda number: self._send(number, 0, self._embedded(ids[number])), len(ids))
        return {}

    def decode(self, sessions: int, tokens: int) -> dict[str, Any]:
        """Time of ``tokens`` steps of each session, all sessions at once, and the passes."""
        rows = self._given_rows(tokens)
        before = self._runner.passes
        lap = timed(lambda: self._together(lambda number: self._fed(number, rows), sessions))
        return {
            "seconds": 1e-3 * lap.ms,
            "cpu_seconds": 1e-3 * lap.cpu_ms,
            "passes": self._runner.passes - before,
        }

    def states(self, tokens: int) -> dict[str, Any]:
        """Hidden states of ``tokens`` steps of every session, [sessions x tokens, H]."""
        rows = self._given_rows(tokens)
        found = self._together(lambda number: self._fed(number, rows), len(self._caches))
        return {"hidden": [state for states in found for state in states]}

    def greedy(self, ids: list[list[int]], tokens: int) -> dict[str, Any]:
        """The answers of every session to its prompt, all sessions at once."""
        self._caches = [KVCache() for _ in ids]
        answers = self._together(lambda number: self._answer(number, ids[number], tokens), len(ids))
        return {"ids": answers}

    def _together(self, work: Callable[[int], _Result], sessions: int) -> list[_Result]:
        with ThreadPoolExecutor(sessions) as threads:
            return list(threads.map(work, range(sessions)))

    def _given_rows(self, count: int) -> list[Tensor]:
        rows = embedding_rows(count, self._backbone.info.hidden_size, _SEED)
        return [self._wire(torch.from_numpy(row[None])) for row in rows]

    def _fed(self, number: int, rows: list[Tensor]) -> list[list[float]]:
        """Steps with given rows behind the prompt."""
        out = [self._step(number, self._context + at, row) for at, row in enumerate(rows)]
        return [tensor.to_f32()[0].tolist() for tensor in out]

    def _answer(self, number: int, prompt: list[int], tokens: int) -> list[int]:
        new: list[int] = []
        hidden = self._send(number, 0, self._embedded(prompt))
        while len(new) < tokens:
            new.append(self._pick(hidden))
            if len(new) < tokens:
                at = len(prompt) + len(new) - 1
                hidden = self._send(number, at, self._embedded(new[-1:]))
        return new

    def _send(self, number: int, start: int, rows: torch.Tensor) -> Tensor:
        """Append rows [n, H], as many steps as that takes; the last hidden state."""
        for begin in range(0, len(rows), _ROWS_PER_STEP):
            part = self._wire(rows[begin : begin + _ROWS_PER_STEP])
            hidden = self._step(number, start + begin, part)
        return hidden

    def _step(self, number: int, start: int, rows: Tensor) -> Tensor:
        name = self._backbone.info.dtype
        job = StepJob(self._caches[number], start, rows, "last", name, principal=str(number))
        answer: Future[Outcome] = Future()
        self._engine.post(job, answer.set_result)
        outcome = answer.result()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome.hidden

    def _wire(self, rows: torch.Tensor) -> Tensor:
        return to_wire(rows, self._backbone.info.dtype)

    def _embedded(self, ids: list[int]) -> torch.Tensor:
        return self._table[torch.tensor(ids)]

    def _pick(self, hidden: Tensor) -> int:
        """The greedy token."""
        state = to_torch(hidden, self._head.dtype, torch.device("cpu"))
        return int((self._head @ state[0]).argmax())


def _ends(path: Path, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """The embedding table and the head."""
    table = _tensor(path, "model.embed_tokens.weight").to(dtype)
    config = json.loads((path / "config.json").read_text())
    tied = config["tie_word_embeddings"]
    return table, table if tied else _tensor(path, "lm_head.weight").to(dtype)


def _tensor(path: Path, name: str) -> torch.Tensor:
    for file in sorted(path.glob("*.safetensors")):
        with safe_open(file, "pt") as tensors:
            if name in tensors.keys():  # noqa: SIM118
                return tensors.get_tensor(name)
    raise SystemExit(f"{path} has no {name}")


if __name__ == "__main__":
    serve(EngineWorker(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])).handle)
