"""Weights on huge pages and on small ones: products, steps, and what making them so costs.

Both are processes of their own and take turns; the one with small pages is refused huge ones by the
system (PR_SET_THP_DISABLE). Processor time of one thread, the least of all turns.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from pathlib import Path
from typing import Any

from scripts.bench import options as common
from scripts.bench.report import heading, table
from scripts.bench.shapes import served_checkpoint
from scripts.bench.workers import Worker

_KINDS = ("small", "huge")
_PRODUCT_ROWS = (1, 4, 16)


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = served_checkpoint(options.shape, folder)
        workers: dict[str, Worker] = {}
        for kind in _KINDS:
            arguments = (str(path), options.dtype, str(options.layers), kind)
            workers[kind] = Worker("scripts.bench.busy.worker", *arguments)
            stack.callback(workers[kind].close)
        pages = {kind: worker.ask(op="pages") for kind, worker in workers.items()}
        steps: dict[tuple[str, int], float] = {}
        rates: dict[tuple[str, int], float] = {}
        for turn in range(options.rounds):
            for kind in _KINDS[:: 1 if turn % 2 else -1]:
                _measure(kind, workers[kind], options, steps, rates)
    print(heading(f"Huge pages, shape {options.shape}", options.dtype))
    print(f"Context {options.context}, {options.rounds} rounds in turn, one thread.\n")
    print(_report(options, pages, steps, rates))


def _measure(
    kind: str,
    worker: Worker,
    options: argparse.Namespace,
    steps: dict[tuple[str, int], float],
    rates: dict[tuple[str, int], float],
) -> None:
    """Keep the least processor time of a step and the greatest rate of the products."""
    for sessions in options.sessions:
        request = {"op": "step", "context": options.context, "sessions": sessions}
        least = min(worker.ask(**request, steps=options.steps)["cpu_ms"])
        steps[kind, sessions] = min(steps.get((kind, sessions), least), least)
    for rows in _PRODUCT_ROWS:
        rate = worker.ask(op="products", rows=rows)["bytes_per_second"] / 1e9
        rates[kind, rows] = max(rates.get((kind, rows), rate), rate)


def _report(
    options: argparse.Namespace,
    pages: dict[str, dict[str, Any]],
    steps: dict[tuple[str, int], float],
    rates: dict[tuple[str, int], float],
) -> str:
    rows: list[list[object]] = [
        _row(f"step, {n} sessions", *(steps[kind, n] for kind in _KINDS), "ms")
        for n in options.sessions
    ]
    rows += [
        _row(f"products, {n} rows", *(rates[kind, n] for kind in _KINDS), "GB/s")
        for n in _PRODUCT_ROWS
    ]
    private = {kind: pages[kind]["private"] / 1e6 for kind in _KINDS}
    rows.append(["private memory", *(f"{private[kind]:.0f} MB" for kind in _KINDS), ""])
    rows.append(["on huge pages", *(pages[kind]["pages"] for kind in _KINDS), ""])
    return table(["", "small pages", "huge pages", "huge of small"], rows)


def _row(name: str, small: float, huge: float, unit: str) -> list[object]:
    return [name, f"{small:.1f} {unit}", f"{huge:.1f} {unit}", f"{huge / small:.3f} x"]


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0], dtypes=("bfloat16", "float32"))
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=5, help="of each and round")
    return parser.parse_args()


if __name__ == "__main__":
    main()
