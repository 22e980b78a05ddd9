"""Sessions that begin alike: a decoded token with caches of their own and with a common one.

One process, the engine's own passes; the two ways take turns, pass by pass. Each starts from the
same rows, and their states are compared before anything is timed.
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
from scripts.bench.report import heading, spread, table
from scripts.bench.shapes import random_checkpoint
from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.sharing_gain import sharing_rule
from split_server.kv.cache import KVCache

# Least cosine of two orders of the same sums, by dtype.
_COSINE = {"float32": 0.999999, "bfloat16": 0.999}
_SLICE = 256


@dataclass(frozen=True, slots=True)
class Way:
    """Caches of all sessions; ``base``: what they have in common, None where each has all."""

    caches: list[KVCache]
    base: KVCache | None

    @property
    def bytes(self) -> int:
        """Of all keys and values."""
        return sum(cache.allocated_bytes for cache in (*self.caches, *filter(None, [self.base])))


class Bench:
    """A model and sessions that begin with the same ``common`` rows."""

    def __init__(self, options: argparse.Namespace, path: Path) -> None:
        backbone = load_backbone(
            read_checkpoint(path, "random"), options.dtype, "cpu", threads=options.threads
        )
        self._options, self.backbone = options, backbone
        self._runner = ModelRunner(backbone)
        self._runner.warm_up()
        self._width = backbone.info.hidden_size
        self._base = self._filled(options.common, seed=1)

    def ways(self, sessions: int) -> tuple[Way, Way]:
        """Apart and together, each with its own tails behind the common rows."""
        tails = [self._rows(self._options.tail, 100 + number) for number in range(sessions)]
        apart, together = [], []
        for tail in tails:
            alone, shared = KVCache(), KVCache()
            for index in range(len(self._base.layers)):
                rows = self._base.rows(index, 0, self._options.common)
                alone.layer(index).append(rows.keys[None], rows.values[None])
            alone.grown_to(self._options.common)
            shared.share(self._base, self._options.common)
            for cache in (alone, shared):
                self._runner.run([Slice(cache, self._options.common, tail)])
            apart.append(alone)
            together.append(shared)
        return Way(apart, None), Way(together, self._base)

    def measured(self, sessions: int) -> tuple[list[str], float]:
        """A row of the table, and the ratio of processor time."""
        apart, together = self.ways(sessions)
        self._check(apart, together, sessions)
        wall: list[float] = []
        processor: list[float] = []
        mine, theirs = list[float](), list[float]()
        for number in range(self._options.rounds):
            rows = self._rows(sessions, 1000 + number)
            one, other = self._timed(apart, rows), self._timed(together, rows)
            wall.append(other[0] / one[0])
            processor.append(other[1] / one[1])
            mine.append(1e3 * other[0])
            theirs.append(1e3 * one[0])
        size = together.bytes / apart.bytes
        row = [sessions, spread(theirs, "ms", 1), spread(mine, "ms", 1)]
        ratios = [spread(wall, "x"), spread(processor, "x")]
        return [*map(str, row), *ratios, f"{100 * size:.0f}%"], sorted(processor)[len(wall) // 2]

    def _check(self, apart: Way, together: Way, sessions: int) -> None:
        rows = self._rows(sessions, 7)
        one, other = (torch.cat(self._pass(way, rows)).float() for way in (apart, together))
        least = float(torch.nn.functional.cosine_similarity(one, other).min())
        if least < _COSINE[self._options.dtype]:
            raise SystemExit(f"states differ: least cosine {least:.6f}")

    def _timed(self, way: Way, rows: torch.Tensor) -> tuple[float, float]:
        began, used = time.perf_counter(), time.process_time()
        self._pass(way, rows)
        return time.perf_counter() - began, time.process_time() - used

    def _pass(self, way: Way, rows: torch.Tensor) -> list[torch.Tensor]:
        """A row of each session, which is taken back by the next pass."""
        start = self._options.common + self._options.tail
        slices = [Slice(cache, start, rows[at : at + 1]) for at, cache in enumerate(way.caches)]
        return self._runner.run(slices)

    def _filled(self, positions: int, seed: int) -> KVCache:
        cache, rows = KVCache(), self._rows(positions, seed)
        for start in range(0, positions, _SLICE):
            self._runner.run([Slice(cache, start, rows[start : start + _SLICE])])
        return cache

    def _rows(self, count: int, seed: int) -> torch.Tensor:
        rows = torch.from_numpy(0.02 * embedding_rows(count, self._width, seed))
        return rows.to(self.backbone.dtype)


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        path = random_checkpoint(options.shape, Path(options.folder or folder), options.dtype)
        bench = Bench(options, path)
        rows = [bench.measured(sessions)[0] for sessions in options.sessions]
        told = f"{options.common} positions in common, tails of {options.tail}"
        print(heading(f"{told}, shape {options.shape}", options.dtype))
        head = ["sessions", "a pass, apart", "together", "wall", "processor", "bytes of K/V"]
        print(table(head, rows))
        rule = sharing_rule(bench.backbone)
        print(f"--kv-share auto would share here: {rule or 'nothing'}.")


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--common", type=int, default=1024)
    parser.add_argument("--tail", type=int, default=128)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=0, help="0: as a server would choose")
    parser.add_argument("--quick", action="store_true", help="a small shape: that it works")
    options = parser.parse_args()
    if options.quick:
        options.shape, options.common, options.tail, options.rounds = "s", 512, 32, 3
    return options


if __name__ == "__main__":
    main()
