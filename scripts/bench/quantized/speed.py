"""Times of one token and of a prefill, and memory, of the ways in turn."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from scripts.bench.quantized.worker import BFLOAT16, INT4, INT8, ONE_BYTE
from scripts.bench.report import spread, table
from scripts.bench.workers import Worker

_WAYS = (BFLOAT16, ONE_BYTE, INT8, INT4)
_CONTEXT, _STEPS, _PREFILL = 256, 4, 256
_REQUESTS: dict[str, dict[str, Any]] = {
    "token": {"op": "step", "context": _CONTEXT, "sessions": 1, "steps": _STEPS},
    "4 sessions": {"op": "step", "context": _CONTEXT, "sessions": 4, "steps": 2},
    "16 sessions": {"op": "step", "context": _CONTEXT, "sessions": 16, "steps": 1},
    f"prefill of {_PREFILL}": {"op": "prefill", "rows": _PREFILL, "repeats": 1},
}


def speed_table(path: Path, rounds: int) -> str:
    """Milliseconds of processor time in one thread: the least of a round, then over all rounds the
    median with minimum and maximum; and ratios of each round to the way with one byte an input.
    """
    with ExitStack() as stack:
        workers = {}
        for way in _WAYS:
            workers[way] = Worker("scripts.bench.quantized.worker", str(path), way)
            stack.callback(workers[way].close)
        # The first round finds everything cold and is not counted.
        laps = [_round(workers) for _ in range(rounds + 1)][1:]
        kept = {way: worker.ask(op="kept") for way, worker in workers.items()}
    rows = [
        [
            way,
            kept[way]["linears"] if way != ONE_BYTE else "peer",
            *(_figure(laps, way, name) for name in _REQUESTS),
            f"{kept[way]['private'] / 1e6:.0f} MB",
        ]
        for way in _WAYS
    ]
    return table(["kept as", "layers", *_REQUESTS, "private memory"], rows)


def _round(workers: dict[str, Worker]) -> dict[tuple[str, str], float]:
    return {
        (way, name): min(worker.ask(**request)["cpu_ms"])
        for name, request in _REQUESTS.items()
        for way, worker in workers.items()
    }


def _figure(laps: list[dict[tuple[str, str], float]], way: str, name: str) -> str:
    times = spread([lap[way, name] for lap in laps], "ms", 1)
    if way == ONE_BYTE:
        return times
    return f"{times}, {spread([lap[way, name] / lap[ONE_BYTE, name] for lap in laps], 'x')}"
