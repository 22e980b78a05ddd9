"""The web app's LM head over rows in IndexedDB, on a page over plain http: equality, time, memory.

    python -m scripts.bench.web.rows --host 192.0.2.1 [--rows 151936] [--hidden 896] [--shards 2]
        [--records 8192] [--top 1 20 50] [--vectors 20] [--tokens 50]

Random float16 rows as the app's store keeps them, in a new profile of Chromium; ``--host`` is an
address of this machine beyond loopback, where a browser withholds its file system. ``--records``:
what records aim at; models that are stored without a note of it have 32768. Each token has a hidden
state of its own, unlike the one before. CPU is that of all the browser's processes; time is the
median. Memory is the page's private memory in steady decode above that of the empty page. Before
anything is timed, the top of every vector is compared with float64 products. Ends with an error
where more than 1 of 200 differs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import Any

from scripts.bench.report import heading, table
from scripts.bench.web.loop_peer.chromium import Browser, Tab, browser

MOST_DIFFERENT = 0.005
HEADINGS = ("records", "top", "as float64", "CPU ms a token", "ms a token")
_MIB = 2**20


def main() -> int:
    options = _options()
    lines: list[tuple[str, ...]] = []
    notes: list[str] = []
    worst = 1.0
    with browser(options.host) as chromium:
        for record in options.records:
            shape = {"rows": options.rows, "hidden": options.hidden, "shards": options.shards}
            with chromium.tab() as tab:
                shards = tab.ask("rows", "fill", record=record, **shape)
                truth = _truth(tab, options, shards)
            with chromium.tab() as tab:
                derived = _open(tab, options, shards)["ms"] / 1000
                tab.ask("engine", "close")
            with chromium.tab() as tab:
                before = tab.mebibytes
                opened = _open(tab, options, shards)["ms"] / 1000
                for top in options.top:
                    equal = _equal(tab, options, top, truth)
                    cpu, wall = _timed(chromium, tab, options, top)
                    cells = (f"{equal:.1%}", f"{cpu:.1f}", f"{wall:.1f}")
                    lines.append((str(record), str(top), *cells))
                    worst = min(worst, equal)
                memory = (tab.mebibytes - before) / (options.rows * options.hidden * 2 / _MIB)
                notes.append(
                    f"Records of {record}: opens in {opened:.1f} s, the first time, which derives "
                    f"the 4-bit copy, in {derived:.1f} s; {memory:.2f} of the weights in memory."
                )
                tab.ask("engine", "close")
    shape = f"{options.rows} x {options.hidden}, {options.shards} workers"
    print(heading(f"LM head over rows in IndexedDB, {shape}", "float16 weights"))
    print(table(HEADINGS, lines))
    print("\n".join(notes))
    return int(worst < 1 - MOST_DIFFERENT)


def _truth(tab: Tab, options: argparse.Namespace, shards: list[dict[str, Any]]) -> list[list[int]]:
    seeds = _seeds(options)
    wanted = {"descriptors": shards, "hidden": options.hidden, "seeds": seeds}
    found: list[list[int]] = tab.ask("rows", "oracle", k=max(options.top), **wanted)
    return found


def _seeds(options: argparse.Namespace) -> list[int]:
    return list(range(1000, 1000 + options.vectors))


def _open(tab: Tab, options: argparse.Namespace, shards: list[dict[str, Any]]) -> dict[str, Any]:
    shape = {"rows": options.rows, "hidden": options.hidden, "kernel": "auto"}
    opened: dict[str, Any] = tab.ask("engine", "open", descriptors=shards, **shape)
    return opened


def _equal(tab: Tab, options: argparse.Namespace, top: int, truth: list[list[int]]) -> float:
    tops = tab.ask("engine", "top", seeds=_seeds(options), k=top)
    same = [own["ids"] == wanted[:top] for own, wanted in zip(tops, truth, strict=True)]
    return sum(same) / len(same)


def _timed(
    chromium: Browser, tab: Tab, options: argparse.Namespace, top: int
) -> tuple[float, float]:
    """CPU and median time of a token, ms."""
    before = chromium.seconds
    times = tab.ask("engine", "head", seeds=list(range(options.tokens)), k=top)
    return 1e3 * (chromium.seconds - before) / options.tokens, statistics.median(times)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--rows", type=int, default=151_936)
    parser.add_argument("--hidden", type=int, default=896)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--records", type=int, nargs="+", default=[8192])
    parser.add_argument("--top", type=int, nargs="+", default=[1, 20, 50])
    parser.add_argument("--vectors", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=50)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
