"""A decoded token of one long session, with all of its rows seen and with a share of them hidden.

One process, the engine's own passes; the two ways take turns, pass by pass. The rows before are
made up: what they hold does not change what a pass takes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from scripts.bench import options as common
from scripts.bench.inputs import embedding_rows
from scripts.bench.report import finish, heading, interval, median, spread, table
from scripts.bench.shapes import random_checkpoint
from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_wire.hiding.spans import Spans

# The bars: of a decoded token's time, and of the bytes that attention reads.
_TIME, _BYTES = 0.92, 0.55
_LONG = 8192


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of a pass by the wall clock, and of the process on all its processors."""

    wall: float
    processor: float


class Bench:
    """A model, and two sessions with the same rows, of one of which some are hidden."""

    def __init__(self, options: argparse.Namespace, path: Path) -> None:
        backbone = load_backbone(
            read_checkpoint(path, "random"), options.dtype, "cpu", threads=options.threads
        )
        self._backbone, self._positions = backbone, options.positions
        self._runner = ModelRunner(backbone)
        self._runner.warm_up()
        width, dtype = backbone.info.hidden_size, backbone.dtype
        self._row = torch.from_numpy(0.02 * embedding_rows(1, width, 1)).to(dtype)
        self.whole, self.hidden = self._filled(), self._filled()

    def hide(self, spans: Spans) -> float:
        """Seconds that hiding ``spans`` took."""
        began = time.perf_counter()
        self.hidden.hide(spans)
        return time.perf_counter() - began

    def rounds(self, count: int) -> list[tuple[Times, Times]]:
        """A pass of each, which takes its row back before the next."""
        self._timed(self.whole), self._timed(self.hidden)
        return [(self._timed(self.whole), self._timed(self.hidden)) for _ in range(count)]

    def _timed(self, cache: KVCache) -> Times:
        began, used = time.perf_counter(), time.process_time()
        self._runner.run([Slice(cache, self._positions, self._row)])
        return Times(time.perf_counter() - began, time.process_time() - used)

    def _filled(self) -> KVCache:
        """Rows of the shapes that the model gives, with values about as large."""
        cache, small = KVCache(), KVCache()
        self._runner.run([Slice(small, 0, self._row)])
        chance = torch.Generator().manual_seed(2)
        for index in range(len(small.layers)):
            _, heads, _, width = small.like(index).shape
            shape = (1, heads, self._positions, width)
            keys, values = (torch.randn(shape, generator=chance) for _ in range(2))
            dtype = self._backbone.dtype
            cache.append(index, keys.to(dtype), values.to(dtype))
        cache.adopted_to(self._positions)
        return cache


def seen_bytes(cache: KVCache) -> int:
    """Of the keys and values that attention reads."""
    return sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)


def spans_of(positions: int, share: float, spans: int) -> Spans:
    """So many spans, evenly spread, that have ``share`` of the positions."""
    length = round(share * positions / spans)
    first = [4 + index * (positions - 4) // spans for index in range(spans)]
    return tuple((start, start + length) for start in first)


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        path = random_checkpoint(options.shape, Path(options.folder or folder), options.dtype)
        bench = Bench(options, path)
        rows, problems = [], list[str]()
        for spans in options.spans:
            hiding = bench.hide(spans_of(options.positions, options.share, spans))
            times = bench.rounds(options.rounds)
            wall = [other.wall / one.wall for one, other in times]
            processor = [other.processor / one.processor for one, other in times]
            size = seen_bytes(bench.hidden) / seen_bytes(bench.whole)
            showing = bench.hide(())
            low, high = interval(processor)
            rows.append(
                [
                    spans,
                    spread([1e3 * one.wall for one, _ in times], "ms", 1),
                    spread([1e3 * other.wall for _, other in times], "ms", 1),
                    spread(wall, "x"),
                    f"{median(processor):.2f} x ({low:.2f} to {high:.2f})",
                    f"{size:.2f} x",
                    f"{1e3 * hiding:.0f}, {1e3 * showing:.0f} ms",
                ]
            )
            if median(processor) > _TIME or size > _BYTES:
                problems.append(f"{spans} spans: {median(processor):.3f} x, bytes {size:.3f} x")
        told = f"{options.positions:,} positions, {100 * options.share:.0f}% hidden"
        print(heading(f"{told}, shape {options.shape}", options.dtype))
        print(table(_HEAD, rows))
        # Shorter sessions gain less.
        finish(problems if options.positions >= _LONG else [])


_HEAD = [
    "spans",
    "a token, all seen",
    "some hidden",
    "wall",
    "processor (95% of the median)",
    "K/V in attention",
    "hide, show",
]


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=8192)
    parser.add_argument("--share", type=float, default=0.5, help="of the positions, hidden")
    parser.add_argument("--spans", type=int, nargs="+", default=[1, 64, 1024])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--threads", type=int, default=0, help="0: as a server would choose")
    parser.add_argument("--quick", action="store_true", help="a small shape: that it works")
    options = parser.parse_args()
    if options.quick:
        options.shape, options.positions, options.rounds = "s", 512, 3
        options.spans = [1, 16]
    return options


if __name__ == "__main__":
    main()
