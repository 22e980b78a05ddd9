"""Decode steps beside other programs: how long OpenMP's threads look for work before they sleep.

Every setting is a process of its own over the same layers, and they take turns: first on the quiet
machine, then beside processes that burn a core each. The setting that a server starts with is one
of them. A few layers of the shape are enough: what is measured happens between two products.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from scripts.bench import options as common
from scripts.bench.beside.burners import Burners
from scripts.bench.report import heading, median, table
from scripts.bench.shapes import served_checkpoint
from scripts.bench.workers import Worker
from split_server.engine.model.openmp import prepare_openmp

AS_IT_IS, PASSIVE, SERVER = "as libgomp is", "passive", "the server's"
_REALTIME = " Quiet: with real-time priority over what else the machine did."
_VARIABLES = ("GOMP_SPINCOUNT", "OMP_NUM_THREADS", "OMP_WAIT_POLICY")
# After a turn of another process everything is cold.
_NOT_COUNTED = 2
# Milliseconds by setting, threads, and whether others were busy.
Times = dict[tuple[str, int, bool], list[float]]


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder)
        workers: dict[str, Worker] = {}
        for name, variables in settings(options.looks).items():
            arguments = (str(path), options.dtype, str(options.layers), "huge")
            with _environment(variables):
                workers[name] = Worker("scripts.bench.busy.worker", *arguments)
            stack.callback(workers[name].close)
        times: Times = {}
        # Threads that OpenMP starts later inherit the priority.
        _prefer(workers, on=options.realtime)
        _rounds(workers, options, times, busy=False)
        _prefer(workers, on=False)
        with Burners(options.burners) as burners, burners.burning():
            _rounds(workers, options, times, busy=True)
    print(heading(f"Beside other programs, {options.layers} layers of {options.shape}", "bfloat16"))
    print(
        f"Context {options.context}, one session, {options.rounds} rounds in turn, "
        f"{options.steps} steps each; {options.burners} other processes of one thread each. "
        "Median of a step, in brackets its 90th percentile; wall time."
        f"{_REALTIME if options.realtime else ''}\n"
    )
    print(report(times, list(workers), options.threads))


def _prefer(workers: Mapping[str, Worker], *, on: bool) -> None:
    for worker in workers.values():
        worker.ask(op="realtime", on=on)


def settings(looks: list[int]) -> dict[str, dict[str, str]]:
    """Variables of OpenMP, by name."""
    server: dict[str, str] = {}
    prepare_openmp(server, lambda: None)
    counts = {f"{count:,} looks": {"GOMP_SPINCOUNT": str(count)} for count in looks}
    return {AS_IT_IS: {}, SERVER: server, **counts, PASSIVE: {"OMP_WAIT_POLICY": "passive"}}


def report(times: Times, names: list[str], threads: list[int]) -> str:
    """A row for each setting and number of threads."""
    rows = []
    for count in threads:
        quiet = {name: median(times[name, count, False]) for name in names}
        for name in names:
            busy = times[name, count, True]
            rows.append(
                [
                    count,
                    name,
                    _described(times[name, count, False]),
                    f"{quiet[name] / quiet[AS_IT_IS]:.3f} x",
                    _described(busy),
                    f"{median(busy) / quiet[name]:.2f} x",
                ]
            )
    head = ["threads", "looks before sleep", "quiet", "of libgomp's own", "busy", "of quiet"]
    return table(head, rows)


def _described(values: list[float]) -> str:
    last = sorted(values)[int(0.9 * len(values))]
    return f"{median(values):.2f} ms ({last:.2f})"


def _rounds(
    workers: Mapping[str, Worker], options: argparse.Namespace, times: Times, *, busy: bool
) -> None:
    names = list(workers)
    for turn in range(options.rounds):
        for count in options.threads:
            # Another one begins each round, so that none always follows the same one.
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                workers[name].ask(op="threads", count=count)
                request = {"op": "step", "context": options.context, "sessions": 1}
                found = workers[name].ask(**request, steps=options.steps + _NOT_COUNTED)["ms"]
                times.setdefault((name, count, busy), []).extend(found[_NOT_COUNTED:])


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Children that are started inside have these variables of OpenMP and no others."""
    before = dict(os.environ)
    for name in _VARIABLES:
        os.environ.pop(name, None)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0], dtypes=("bfloat16",))
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--looks", type=int, nargs="*", default=[], help="further settings")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--realtime",
        action="store_true",
        help="quiet turns with real-time priority: for root on a machine that is never quiet",
    )
    parser.add_argument("--burners", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=20, help="of each setting and round")
    return parser.parse_args()


if __name__ == "__main__":
    main()
