"""Throughput of sessions that decode at the same time, against the same sessions one after another.

Ours: one thread per session submits steps to the real engine. Peer: the stock Hugging Face model
(sdpa, DynamicCache), session by session. Each is a process of its own and they take turns. Neither
has an LM head: both are fed the same embeddings and hand every hidden state over in main memory.
Before anything is timed, float32 must give the greedy tokens of ``generate`` in every session, and
other dtypes the stock model's hidden states.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import tempfile
from pathlib import Path
from typing import Any

from scripts.bench import options as common
from scripts.bench.inputs import require_alike
from scripts.bench.report import heading, median, spread, table
from scripts.bench.shapes import SHAPES, served_checkpoint
from scripts.bench.workers import Worker

# Two bfloat16 implementations of a model of this depth agree about as well; int8 rounds more.
_LEAST_COSINE = {"none": 0.998, "int8": 0.99}
# Sessions whose tokens or states are compared.
_CHECK_TOKENS = 6

Figures = dict[int, list[dict[str, Any]]]


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = str(served_checkpoint(options.shape, folder))
        ours, stock = _workers(options, path)
        stack.callback(ours.close)
        stack.callback(stock.close)
        checked = _check(options, ours, stock)
        ids = _prompts(options, max(options.sessions))
        ours.ask(op="open", ids=ids)
        stock.ask(op="open", ids=ids)
        # The first round finds everything cold and is not counted.
        rounds = [_round(options, ours, stock) for _ in range(options.rounds + 1)][1:]
        linears = ours.ask(op="facts")["linears"]
    figures = {count: [one[count] for one in rounds] for count in options.sessions}
    _report(options, figures, f"{checked} Our linear layers: {linears}.")


def _workers(options: argparse.Namespace, path: str) -> tuple[Worker, Worker]:
    load = {name: getattr(options, name) for name in ("linears", "quantize", "threads", "device")}
    ours = Worker("scripts.bench.batch.engine", path, options.dtype, json.dumps(load))
    threads = str(options.threads)
    return ours, Worker("scripts.bench.peers.stock", path, options.dtype, options.device, threads)


def _check(options: argparse.Namespace, ours: Worker, stock: Worker) -> str:
    """Compare all sessions with the oracle; what was compared, in words."""
    count = max(options.sessions)
    ids = _prompts(options, count)
    if options.dtype == "float32" and options.quantize == "none":
        request = {"op": "greedy", "ids": ids, "tokens": _CHECK_TOKENS}
        if ours.ask(**request) != stock.ask(**request):
            raise SystemExit("the tokens are not those of generate")
        return f"Checked: {_CHECK_TOKENS} greedy tokens of all {count} sessions equal `generate`."
    for worker in (ours, stock):
        worker.ask(op="open", ids=ids)
    request = {"op": "states", "tokens": _CHECK_TOKENS}
    found, expected = ours.ask(**request)["hidden"], stock.ask(**request)["hidden"]
    cosine = require_alike("the engine", found, expected, _LEAST_COSINE[options.quantize])
    return f"Checked: {len(found)} hidden states of {count} sessions, least cosine {cosine:.5f}."


def _prompts(options: argparse.Namespace, count: int) -> list[list[int]]:
    choice, rows = random.Random(0), SHAPES[options.shape]["vocab_size"]
    return [[choice.randrange(rows) for _ in range(options.context)] for _ in range(count)]


def _round(options: argparse.Namespace, ours: Worker, stock: Worker) -> dict[int, dict[str, Any]]:
    """Rates of one turn of each program, by the number of sessions."""
    done = {}
    for count in options.sessions:
        mine = ours.ask(op="decode", sessions=count, tokens=options.tokens)
        theirs = stock.ask(op="decode", sessions=count, tokens=options.stock_tokens)
        made, peers = count * options.tokens, count * options.stock_tokens
        done[count] = {
            "ours": made / mine["seconds"],
            "stock": peers / theirs["seconds"],
            "ours_cpu_ms": 1e3 * mine["cpu_seconds"] / made,
            "stock_cpu_ms": 1e3 * theirs["cpu_seconds"] / peers,
            "sessions_per_pass": made / mine["passes"],
        }
    return done


def _report(options: argparse.Namespace, figures: Figures, note: str) -> None:
    rows = [_row(count, rounds) for count, rounds in figures.items()]
    kind = options.dtype if options.quantize == "none" else f"{options.dtype} and int8"
    print(heading(f"Sessions at once, shape {options.shape}, {options.device}", kind))
    print(
        f"Context {options.context}, {options.rounds} rounds in turn, {options.tokens} tokens per "
        f"session and round (stock: {options.stock_tokens}), {options.threads} threads. {note}\n"
    )
    head = [
        "sessions",
        "tokens per second",
        "stock, one after another",
        "ratio",
        "ratio of processor time",
        "per session",
        "sessions in a pass",
    ]
    print(table(head, rows))
    print(_saturation(figures))
    if options.save:
        saved = {"kind": kind, "shape": options.shape, "context": options.context}
        Path(options.save).write_text(json.dumps({**saved, "figures": figures}))


def _row(count: int, rounds: list[dict[str, Any]]) -> list[str]:
    ratio = [one["ours"] / one["stock"] for one in rounds]
    cpu = [one["stock_cpu_ms"] / one["ours_cpu_ms"] for one in rounds]
    return [
        str(count),
        spread([one["ours"] for one in rounds], "1/s", 1),
        spread([one["stock"] for one in rounds], "1/s", 1),
        spread(ratio, "x"),
        spread(cpu, "x"),
        f"{median([one['ours'] for one in rounds]) / count:.1f} 1/s",
        f"{median([one['sessions_per_pass'] for one in rounds]):.1f}",
    ]


def _saturation(figures: Figures) -> str:
    """From how many sessions on more of them hardly add throughput."""
    rates = {count: median([one["ours"] for one in figures[count]]) for count in figures}
    best = max(rates.values())
    enough = min(count for count, rate in rates.items() if rate >= 0.9 * best)
    return f"Nine tenths of the highest throughput are reached with {enough} sessions."


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32])
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=16, help="per session and round")
    parser.add_argument("--stock-tokens", type=int, default=4, help="the peer's; each costs alike")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    common.add_model_options(parser)
    parser.add_argument("--save", help="write the figures there, for scripts.pictures.benchmarks")
    options = parser.parse_args()
    options.threads = options.threads or len(os.sched_getaffinity(0))
    return options


if __name__ == "__main__":
    main()
