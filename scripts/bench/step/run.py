"""One decode step of the backbone: ours against the stock model, another commit and llama.cpp.

Every program is a process of its own and they take turns. Hidden states are compared before
anything is timed. llama.cpp takes part when --llama-python names an interpreter with it, built on
this machine: ``python -m venv llama && llama/bin/pip install --no-binary llama-cpp-python
llama-cpp-python gguf``. Another commit takes part when --other names its checkout, made by
``git worktree add ../other COMMIT``.
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
from scripts.bench.beside.burners import Burners
from scripts.bench.inputs import require_alike
from scripts.bench.report import heading
from scripts.bench.shapes import served_checkpoint
from scripts.bench.step.figures import Figures
from scripts.bench.step.pages import keep_pages_small, pages_of
from scripts.bench.step.programs import (
    INT4,
    INT8,
    LLAMA_TYPES,
    MINE,
    STOCK,
    llama_name,
    possible,
    programs,
)
from scripts.bench.step.report import report
from scripts.bench.step.rounds import Done, one_round
from scripts.bench.timing import Course
from scripts.bench.workers import Worker

_LEAST_COSINE = {
    INT8: 0.99,
    INT4: 0.9,
    llama_name("q8_0"): 0.99,
    llama_name("q4_0"): 0.9,
    llama_name("q4_K"): 0.9,
}
# A whole prefill and made-up keys and values both go through the rounding of every layer.
_CHECK_ROWS, _CHECK_STEPS = 96, 8
_QUICK = {"shape": "s", "contexts": [128], "sessions": [1, 4], "steps": 4, "rounds": 2}


def main() -> None:
    options = _options()
    if options.pages == "small":
        keep_pages_small()
    course = Course.of(options)
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder)
        burners = stack.enter_context(Burners(options.busy))
        runs = []
        for number, threads in enumerate(options.threads, 1):
            until = options.seconds * number / len(options.threads)
            runs.append(_run(options, threads, path, folder, burners, course, until))
    print(heading(f"Decode step, shape {options.shape}", options.dtype))
    print(report(runs))
    if options.save:
        Path(options.save).write_text(json.dumps(runs))


def _run(
    options: argparse.Namespace,
    threads: int,
    path: Path,
    folder: Path,
    burners: Burners,
    course: Course,
    until: float,
) -> Figures:
    """The figures with so many threads; no round begins that would end after ``until``."""
    with programs(options, path, folder, threads) as workers:
        cosines = _check(workers, options.contexts)
        if STOCK not in options.programs:
            workers.pop(STOCK).close()
        rounds: list[dict[str, Done]] = []
        # The first round finds everything cold and is not counted.
        for turn in range(options.rounds + 1):
            began = course.elapsed
            rounds.append(one_round(workers, options, burners, turn))
            course.tell(f"{threads} threads: round {turn} of {options.rounds}")
            if turn and until and 2 * course.elapsed - began > until:
                break
        return {
            "cosines": cosines,
            "rounds": rounds[1:],
            "threads": threads,
            "pages": {name: pages_of(worker.pid) for name, worker in workers.items()},
            "facts": {
                name: worker.ask(op="facts") for name, worker in workers.items() if name != STOCK
            },
            **{name: getattr(options, name) for name in _SAVED},
        }


_SAVED = ("shape", "dtype", "contexts", "sessions", "prefill", "steps", "busy")


def _check(workers: dict[str, Worker], contexts: list[int]) -> dict[str, float]:
    """Least cosine of every program with the stock model."""
    request: dict[str, Any] = {"op": "hidden", "rows": _CHECK_ROWS, "steps": _CHECK_STEPS}
    expected = workers[STOCK].ask(**request)["hidden"]
    cosines = {}
    for name, worker in workers.items():
        if name != STOCK:
            found = worker.ask(**request)["hidden"]
            cosines[name] = require_alike(name, found, expected, _least_cosine(name))
    for context in contexts:
        expected = workers[STOCK].ask(op="probe", context=context)["hidden"]
        for name in cosines.keys() & MINE.values():
            found = workers[name].ask(op="probe", context=context)["hidden"]
            least = _least_cosine(name)
            cosine = require_alike(f"{name}, {context}", found, expected, least)
            cosines[name] = min(cosines[name], cosine)
    return cosines


def _least_cosine(name: str) -> float:
    return _LEAST_COSINE.get(name, 0.998)


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small and soon: shows that it works")
    parser.add_argument("--contexts", type=int, nargs="+", default=[512])
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--prefill", type=int, default=128, help="its rows; 0: without one")
    parser.add_argument("--steps", type=int, default=8, help="of each program and round")
    parser.add_argument("--rounds", type=int, default=7)
    Course.add_option(parser)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[cores], help="of every side, one after the other"
    )
    parser.add_argument(
        "--busy", type=int, default=0, help="measure also beside so many busy processes"
    )
    parser.add_argument(
        "--pages",
        choices=["huge", "small", "mapped"],
        default="huge",
        help="huge: llama.cpp's too; small: nobody's; mapped: llama.cpp reads from the file",
    )
    mine = possible()
    parser.add_argument(
        "--programs",
        nargs="+",
        choices=[STOCK, *mine],
        default=[STOCK, *(one for one in mine if one != "plain")],
    )
    parser.add_argument("--other", type=Path, help="the checkout of another commit")
    parser.add_argument("--llama-python", help="an interpreter with llama-cpp-python and gguf")
    parser.add_argument("--llama-types", nargs="+", choices=LLAMA_TYPES, default=["f16"])
    parser.add_argument("--save", help="write the figures there, for scripts.pictures.benchmarks")
    if parser.parse_known_args()[0].quick:
        parser.set_defaults(**_QUICK)
    return parser.parse_args()


if __name__ == "__main__":
    main()
