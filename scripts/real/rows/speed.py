"""The time of a token in one thread, ours in each form and the stock loop, in turn."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from scripts.bench.report import median, spread
from scripts.bench.workers import Worker
from scripts.real.figures import Figure, Figures, require
from scripts.real.measures.prefix import accepted
from scripts.real.setting import Setting, say

_ROUNDS, _TOKENS = 5, 16
_KINDS = {
    "f32": "ours, float32",
    "bf16": "ours, bfloat16",
    "int8": "ours, `--quantize int8`",
    "stock": "Hugging Face's loop, bfloat16",
}
_BEFORE = {
    "bf16": "62.7 ms, 0.52x ([shape m](benchmarks.md#one-decode-step), 2 threads, without a head)",
    "int8": "68.0 ms, 0.53x",
    "stock": "125.1 ms",
}
# bfloat16 flips a near tie now and then, and another text follows.
_ALIKE = 4


def measure(setting: Setting) -> Figures:
    """Embedding, middle and head of one token, without a network."""
    ids = setting.ids([{"role": "user", "content": "Write a short story about a lighthouse."}])
    with ExitStack() as stack:
        workers = {}
        for kind in _KINDS:
            worker = Worker(
                "scripts.real.models.token_worker", kind, str(setting.folder), str(setting.cache)
            )
            stack.callback(worker.close)
            workers[kind] = worker
            say(f"{kind}: {worker.ask(op='facts')['linears']}")
        first = {
            kind: one.ask(op="tokens", ids=ids, count=_TOKENS) for kind, one in workers.items()
        }
        for kind, answer in first.items():
            alike = accepted(answer["ids"], first["f32"]["ids"])
            require(alike >= _ALIKE or kind == "int8", f"{kind} answers otherwise after {alike}")
        rounds = [
            {
                kind: median(one.ask(op="tokens", ids=ids, count=_TOKENS)["ms"])
                for kind, one in workers.items()
            }
            for _ in range(_ROUNDS)
        ]
        facts = {kind: one.ask(op="facts") for kind, one in workers.items()}
    return Figures(
        f"the first {_ALIKE} tokens of all forms but int8 are those of float32",
        tuple(_figure(kind, rounds, facts[kind]) for kind in _KINDS),
    )


def _figure(kind: str, rounds: list[dict[str, float]], facts: dict[str, Any]) -> Figure:
    ratio = median([one[kind] / one["stock"] for one in rounds])
    value = f"{spread([one[kind] for one in rounds], 'ms', 1)}, {ratio:.2f}x of stock"
    held = f"{facts['private'] / 1e6:.0f} MB private, linear layers {facts['linears']}"
    return Figure(_KINDS[kind], f"{value}; {held}", _BEFORE.get(kind, ""))
