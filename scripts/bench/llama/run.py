"""A step of the llama engine beside llama.cpp's own, and what the cut head saves.

Every program is a process of its own and they take turns; hidden states are compared before
anything is timed. llama.cpp's own step is scripts.bench.peers.llama, once with the few head rows
that the engine leaves and once with those of the whole vocabulary. Needs the extra ``llama`` and
``gguf`` in this environment.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

from scripts.bench import options as common
from scripts.bench.inputs import require_alike
from scripts.bench.llama.files import KINDS, middle_of, quantized
from scripts.bench.peers.gguf_file import write
from scripts.bench.report import heading, median, spread, table
from scripts.bench.shapes import SHAPES, served_checkpoint
from scripts.bench.workers import Worker

_OURS, _BARE, _OWN, _WHOLE = "engine", "engine without attention", "llama.cpp", "whole vocabulary"
_LEAST_COSINE = 0.998
_CHECK_ROWS, _CHECK_STEPS = 48, 8
_ALONE = "alone"
_CLOCKS = {"wall": "ms", "processor": "cpu_ms"}
# Milliseconds of every program's turn, by what was done.
Done = dict[str, dict[str, float]]


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        workers = _workers(stack, folder, options)
        request: dict[str, Any] = {"op": "hidden", "rows": _CHECK_ROWS, "steps": _CHECK_STEPS}
        expected = workers[_OWN].ask(**request)["hidden"]
        for name in (_OURS, _BARE):
            require_alike(name, workers[name].ask(**request)["hidden"], expected, _LEAST_COSINE)
        # The first round finds everything cold and is not counted.
        turns = range(options.rounds + 1)
        alone = [_prefills(workers, options, turn, _ALONE) for turn in turns][1:]
        rounds = [_round(workers, options, turn) for turn in turns][1:]
        facts = workers[_OURS].ask(op="facts")
    print(heading(f"llama engine, shape {options.shape}", options.kind))
    print(_report(alone) + "\n" + _report(rounds))
    order = "in an order for this processor" if facts["reordered"] else "in the file's order"
    print(f"llama-cpp-python {facts['version']}, matrices {order}, {options.threads} threads.")


def _workers(
    stack: contextlib.ExitStack, folder: Path, options: argparse.Namespace
) -> dict[str, Worker]:
    vocabulary = SHAPES[options.shape]["vocab_size"]
    whole = folder / f"{options.shape}-whole.gguf"
    if not whole.exists():
        checkpoint = served_checkpoint(options.shape, folder)
        partial = whole.with_suffix(".partial")
        write(checkpoint, partial, "f16", vocabulary)
        partial.rename(whole)
    if options.kind != "f16":
        whole = quantized(whole, options.kind)
    middle = middle_of(whole)
    most = max(options.sessions)
    cells = -(-(most * (options.context + 64)) // 256) * 256
    numbers = [str(options.threads), str(cells), str(most + 1)]
    peer = [str(options.threads), str(options.context), str(most)]
    found = {
        _OURS: Worker("scripts.bench.llama.runner", str(middle), *numbers, "watched"),
        _BARE: Worker("scripts.bench.llama.runner", str(middle), *numbers, "bare"),
        _OWN: Worker("scripts.bench.peers.llama", str(middle), *peer),
        _WHOLE: Worker("scripts.bench.peers.llama", str(whole), *peer),
    }
    for worker in found.values():
        stack.callback(worker.close)
    return found


def _round(workers: dict[str, Worker], options: argparse.Namespace, turn: int) -> Done:
    """Every program's steps, and its prefill when the sessions of the steps have their cells."""
    names, clock = _in_turn(workers, turn), _CLOCKS[options.clock]
    done: Done = {name: {} for name in names}
    for sessions in options.sessions:
        request = {"op": "step", "context": options.context, "sessions": sessions}
        for name in names:
            laps = workers[name].ask(**request, steps=options.steps)[clock]
            done[name][f"{sessions} at context {options.context}"] = median(laps)
    laps = workers[_OURS].ask(**request | {"sessions": 1}, steps=options.steps, attention=True)
    done[_OURS]["1 with attention"] = median(laps[clock])
    beside = f"beside {max(options.sessions)} sessions"
    prefills = _prefills(workers, options, turn, beside)
    return {name: {**done[name], **prefills[name]} for name in names}


def _prefills(
    workers: dict[str, Worker], options: argparse.Namespace, turn: int, where: str
) -> Done:
    """Every program's prefill; ``where``: beside whom, in words."""
    clock, work = _CLOCKS[options.clock], f"prefill of {options.prefill}, {where}"
    request = {"op": "prefill", "rows": options.prefill, "repeats": 2}
    return {
        name: {work: median(workers[name].ask(**request)[clock])}
        for name in _in_turn(workers, turn)
    }


def _in_turn(workers: dict[str, Worker], turn: int) -> list[str]:
    """Another program begins each round, so that none always follows the same one."""
    names = list(workers)
    return names[turn % len(names) :] + names[: turn % len(names)]


def _report(rounds: list[Done]) -> str:
    rows = []
    for work in rounds[0][_OURS]:
        row: list[object] = [work]
        for name in (_OURS, _BARE, _OWN, _WHOLE):
            values = [one[name][work] for one in rounds if work in one[name]]
            row.append(spread(values, "ms", 1) if values else "")
        own = [one[_OURS][work] / one[_OWN][work] for one in rounds if work in one[_OWN]]
        row.append(spread(own, "x") if own else "")
        rows.append(row)
    return table(["pass", _OURS, _BARE, _OWN, _WHOLE, "engine / llama.cpp"], rows)


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=sorted(KINDS), default="q8_0")
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--prefill", type=int, default=128, help="rows of the prefill")
    parser.add_argument("--steps", type=int, default=8, help="of each program and round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=0, help="of every side; 0: one per core")
    parser.add_argument("--clock", choices=list(_CLOCKS), default="wall")
    options = parser.parse_args()
    options.threads = options.threads or len(os.sched_getaffinity(0))
    return options


if __name__ == "__main__":
    main()
