"""One decode step of the backbone: ours against the stock model, memory bandwidth and llama.cpp.

Every program is a process of its own and they take turns. Hidden states are compared before
anything is timed. llama.cpp takes part when --llama-python names an interpreter with it, made by
``python -m venv llama && llama/bin/pip install llama-cpp-python gguf``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from scripts.bench import options as common
from scripts.bench.inputs import require_alike
from scripts.bench.report import heading, median
from scripts.bench.shapes import served_checkpoint
from scripts.bench.step.programs import INT8, PACKED, PLAIN, STOCK, llama, programs
from scripts.bench.step.report import report
from scripts.bench.workers import Worker

_LEAST_COSINE = {STOCK: 1.0, PLAIN: 0.998, PACKED: 0.998, INT8: 0.99}
# A whole prefill and made-up keys and values both go through the rounding of every layer.
_CHECK_ROWS, _CHECK_STEPS = 96, 8
_PREFILL_REPEATS = 2
_OURS = (PLAIN, PACKED, INT8)


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder)
        workers = stack.enter_context(programs(path, options.dtype, options.threads))
        for kind in options.llama_types if options.llama_python else ():
            name, worker = stack.enter_context(
                llama(
                    options.llama_python,
                    kind,
                    path,
                    folder,
                    options.threads,
                    options.contexts[0],
                    max(options.sessions),
                )
            )
            workers[name] = worker
        figures: dict[str, Any] = {"cosines": _check(workers, options.contexts)}
        # The first round finds everything cold and is not counted.
        rounds = [_round(workers, options, turn) for turn in range(options.rounds + 1)][1:]
        figures |= _facts(workers, options)
    figures["rounds"] = rounds
    print(heading(f"Decode step, shape {options.shape}", options.dtype))
    print(report(figures))
    if options.save:
        Path(options.save).write_text(json.dumps(figures))


def _check(workers: dict[str, Worker], contexts: list[int]) -> dict[str, float]:
    """Least cosine of every program with the stock model."""
    request: dict[str, Any] = {"op": "hidden", "rows": _CHECK_ROWS, "steps": _CHECK_STEPS}
    expected = workers[STOCK].ask(**request)["hidden"]
    cosines = {}
    for name, worker in workers.items():
        least = _LEAST_COSINE.get(name, 0.998)
        if name != STOCK:
            cosines[name] = require_alike(name, worker.ask(**request)["hidden"], expected, least)
    for context in contexts:
        expected = workers[STOCK].ask(op="probe", context=context)["hidden"]
        for name in _OURS:
            found = workers[name].ask(op="probe", context=context)["hidden"]
            cosine = require_alike(f"{name}, {context}", found, expected, _LEAST_COSINE[name])
            cosines[name] = min(cosines[name], cosine)
    return cosines


def _round(
    workers: dict[str, Worker], options: argparse.Namespace, turn: int
) -> dict[str, dict[str, Any]]:
    """Median milliseconds of every program's turn, by what was done."""
    names = list(workers)
    # Another program begins each round, so that none always follows the same one.
    names = names[turn % len(names) :] + names[: turn % len(names)]
    done: dict[str, dict[str, Any]] = {name: {} for name in workers}
    for context in options.contexts:
        for name in names:
            if name in _OURS or name == STOCK or context == options.contexts[0]:
                done[name][f"context {context}"] = _steps(workers[name], name, context, 1, options)
    for sessions in options.sessions:
        for name in names:
            if name != STOCK and sessions > 1:
                found = _steps(workers[name], name, options.contexts[0], sessions, options)
                done[name][f"sessions {sessions}"] = found
    for name in names:
        laps = workers[name].ask(op="prefill", rows=options.prefill, repeats=_PREFILL_REPEATS)
        done[name]["prefill"] = {key: median(values) for key, values in laps.items()}
    done[PACKED]["bandwidth"] = workers[PACKED].ask(op="bandwidth")
    return done


def _steps(
    worker: Worker, name: str, context: int, sessions: int, options: argparse.Namespace
) -> dict[str, float]:
    request: dict[str, Any] = {"op": "step", "context": context, "steps": options.steps}
    if name != STOCK:
        request["sessions"] = sessions
    return {key: median(values) for key, values in worker.ask(**request).items()}


def _facts(workers: dict[str, Worker], options: argparse.Namespace) -> dict[str, Any]:
    names = (PACKED, *(name for name in workers if name.startswith("llama")))
    return {
        "facts": {name: workers[name].ask(op="facts") for name in names},
        "clock": {"wall": "ms", "processor": "cpu_ms"}[options.clock],
        "shape": options.shape,
        "dtype": options.dtype,
        "contexts": options.contexts,
        "sessions": options.sessions,
        "prefill": options.prefill,
        "threads": options.threads,
        "steps": options.steps,
    }


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--contexts", type=int, nargs="+", default=[512, 2048, 4096, 8192])
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--prefill", type=int, default=128, help="rows of the prefill")
    parser.add_argument("--steps", type=int, default=8, help="of each program and round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=0, help="of every side; 0: one per core")
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall")
    parser.add_argument("--llama-python", help="an interpreter with llama-cpp-python and gguf")
    parser.add_argument("--llama-types", nargs="+", choices=["f16", "bf16"], default=["f16"])
    parser.add_argument("--save", help="write the figures there, for scripts.pictures.benchmarks")
    options = parser.parse_args()
    options.threads = options.threads or len(os.sched_getaffinity(0))
    return options


if __name__ == "__main__":
    main()
