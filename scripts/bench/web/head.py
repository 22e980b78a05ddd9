"""The web app's LM head against a loop in JavaScript, in one Chromium: equality, time, memory.

    python -m scripts.bench.web.head [--rows 151936] [--hidden 896] [--top 50] [--vectors 20]
        [--tokens 200] [--loop-tokens 20] [--rounds 3] [--kernel auto] [--small]

Random float16 weights in the browser's own file system (OPFS). The loop
(loop_peer/loop.js) holds the float16 table in memory, multiplies every row and sorts all logits,
on one thread. "LM head" is all logits for the loop, the exact top for ours; sampling
adds temperature 0.7, top-k 50, top-p 0.9. CPU is processor time of the page's process, all threads;
time is the median; both are the least of the rounds that took the same kernel, which is chosen
anew in each. Memory is private memory above that of the empty page. Before anything is timed, the
top of every vector is compared with float64 products. Ends with an error where more than 1 of 200
differs.

With --kernel webgpu the estimates come from whatever adapter Chromium has, software included, and
what its GPU process takes, time and memory, is not in the table.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import Any, NamedTuple

from scripts.bench.report import heading, table
from scripts.bench.web.loop_peer.chromium import Browser, Tab, browser

MOST_DIFFERENT = 0.005
SAMPLING = {"temperature": 0.7, "topK": 50, "topP": 0.9}
SMALL = {
    "rows": 32_000,
    "hidden": 160,
    "rounds": 1,
    "vectors": 5,
    "tokens": 20,
    "loop_tokens": 3,
}
LOOP = "loop, 1 thread"
_KERNELS = ("auto", "relaxed", "simd", "webgpu")
# On a machine without a GPU this is SwiftShader, which the processor runs.
_WEBGPU_FLAGS = ("--enable-unsafe-webgpu", "--ignore-gpu-blocklist")
_MIB = 2**20


class Timed(NamedTuple):
    """Of one token."""

    cpu_ms: float
    wall_ms: float


def main() -> int:
    options = _options()
    flags = _WEBGPU_FLAGS if options.kernel == "webgpu" else ()
    with browser(flags=flags) as chromium:
        shards = {count: _fill(chromium, options, count) for count in (1, 2)}
        equal = _check(chromium, options, shards[2])
        rounds = [_round(chromium, options, shards) for _ in range(options.rounds)]
        memory = {count: _memory(chromium, options, shards[count]) for count in (1, 2)}
    _report(options, equal, rounds, memory)
    return int(equal < 1 - MOST_DIFFERENT)


def _fill(chromium: Browser, options: argparse.Namespace, shards: int) -> list[dict[str, Any]]:
    with chromium.tab() as tab:
        shape = {"rows": options.rows, "hidden": options.hidden}
        found: list[dict[str, Any]] = tab.ask("fill", "fill", shards=shards, **shape)
        return found


def _check(chromium: Browser, options: argparse.Namespace, shards: list[dict[str, Any]]) -> float:
    """The part of the vectors whose top has the ids of the float64 products, in their order."""
    seeds = list(range(1000, 1000 + options.vectors))
    with chromium.tab() as tab:
        wanted = {"descriptors": shards, "hidden": options.hidden, "seeds": seeds}
        truth = tab.ask("fill", "oracle", k=options.top, **wanted)
    with chromium.tab() as tab:
        _open(tab, options, shards)
        tops = tab.ask("engine", "top", seeds=seeds, k=options.top)
        tab.ask("engine", "close")
    same = [own["ids"] == wanted["ids"] for own, wanted in zip(tops, truth, strict=True)]
    return sum(same) / len(same)


def _round(
    chromium: Browser, options: argparse.Namespace, shards: dict[int, list[dict[str, Any]]]
) -> dict[tuple[str, str], Timed]:
    found = {}
    with chromium.tab() as tab:
        tab.ask("loop", "open", descriptors=shards[1], hidden=options.hidden)
        for job in ("head", "reply"):
            found[LOOP, job] = _timed(tab, "loop", job, options.loop_tokens, options)
    for count, descriptors in shards.items():
        with chromium.tab() as tab:
            opened = _open(tab, options, descriptors)
            name = f"{opened['kernel']}, {count} worker{'s' * (count > 1)}"
            for job in ("head", "reply"):
                found[name, job] = _timed(tab, "engine", job, options.tokens, options)
            tab.ask("engine", "close")
    return found


def _open(tab: Tab, options: argparse.Namespace, shards: list[dict[str, Any]]) -> dict[str, Any]:
    shape = {"rows": options.rows, "hidden": options.hidden, "kernel": options.kernel}
    opened: dict[str, Any] = tab.ask("engine", "open", descriptors=shards, **shape)
    return opened


def _timed(tab: Tab, worker: str, job: str, tokens: int, options: argparse.Namespace) -> Timed:
    work = {"k": options.top, "sampling": SAMPLING}
    tab.ask(worker, job, seeds=[0, 1], **work)
    before = tab.seconds
    times = tab.ask(worker, job, seeds=list(range(2, 2 + tokens)), **work)
    return Timed((tab.seconds - before) / tokens * 1000, statistics.median(times))


def _memory(chromium: Browser, options: argparse.Namespace, shards: list[dict[str, Any]]) -> float:
    """Private memory in steady decode above that of the empty page, in MiB."""
    with chromium.tab() as tab:
        before = tab.mebibytes
        _open(tab, options, shards)
        tab.ask("engine", "reply", seeds=list(range(20)), sampling=SAMPLING)
        after = tab.mebibytes
        tab.ask("engine", "close")
    return after - before


def _report(
    options: argparse.Namespace,
    equal: float,
    rounds: list[dict[tuple[str, str], Timed]],
    memory: dict[int, float],
) -> None:
    print(heading(f"LM head in the browser, {options.rows} x {options.hidden}", "float16 weights"))
    print(f"Top {options.top} as of float64 products: {equal:.1%} of {options.vectors} vectors.\n")
    best = least(rounds)
    lines = [_line(key, best) for key in best]
    print(table(("", "work", "CPU ms", "of the loop's", "ms", "of the loop's"), lines))
    weights = options.rows * options.hidden * 2 / _MIB
    for count, mebibytes in memory.items():
        part = mebibytes / weights
        print(f"Memory, {count} worker(s): {mebibytes:.0f} MiB, {part:.2f} of the weights.")


def least(rounds: list[dict[tuple[str, str], Timed]]) -> dict[tuple[str, str], Timed]:
    """Of each kernel and work, of the rounds that ran it: each opening takes the kernel that is the
    fastest just then.
    """
    found: dict[tuple[str, str], list[Timed]] = {}
    for each in rounds:
        for key, timed in each.items():
            found.setdefault(key, []).append(timed)
    return {key: Timed(*map(min, zip(*times, strict=True))) for key, times in found.items()}


def _line(key: tuple[str, str], best: dict[tuple[str, str], Timed]) -> tuple[str, ...]:
    name, job = key
    own, loop = best[key], best[LOOP, job]
    work = {"head": "LM head", "reply": "LM head and sampling"}[job]
    ratios = (f"1/{loop.cpu_ms / own.cpu_ms:.1f}", f"1/{loop.wall_ms / own.wall_ms:.1f}")
    return name, work, f"{own.cpu_ms:.2f}", ratios[0], f"{own.wall_ms:.2f}", ratios[1]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=151_936)
    parser.add_argument("--hidden", type=int, default=896)
    parser.add_argument("--top", type=int, default=50)
    parser.add_argument("--vectors", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--loop-tokens", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kernel", choices=_KERNELS, default="auto")
    parser.add_argument("--small", action="store_true", help="a size for tests")
    if parser.parse_args().small:
        parser.set_defaults(**SMALL)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
