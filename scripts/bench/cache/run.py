"""The cost of one token in the KV cache: growing layers against Hugging Face's DynamicCache.

    python -m scripts.bench.cache.run [--shape m] [--dtype bfloat16] [--contexts 512 2048 8192]
        [--rounds 31] [--threads N]

One new row for every layer, on caches that hold the context already; no model runs. Equality of
keys and values comes first. Rounds alternate between the three.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import torch
from transformers import DynamicCache

from scripts.bench import options as common
from scripts.bench.report import heading, median, spread, table
from scripts.bench.shapes import SHAPES
from split_server.kv.buffers import BufferPool
from split_server.kv.cache import KVCache
from split_server.kv.capacity import capacity_for

Rows = tuple[torch.Tensor, torch.Tensor]


class Figures(NamedTuple):
    """Milliseconds per token over all layers; ``growth``: of one that outgrows the buffers."""

    peer: list[float]
    update: list[float]
    append: list[float]
    growth: list[float]


def main() -> None:
    options = _options()
    torch.set_num_threads(options.threads)
    made = SHAPES[options.shape]
    with torch.inference_mode():
        _check_equal(_Shape(made, options.dtype))
        print(heading(f"Cache update, shape {options.shape}", options.dtype))
        print(
            f"One row per layer, {options.threads} threads, {options.rounds} interleaved rounds.\n"
        )
        rows = [
            _row(context, _measure(_Shape(made, options.dtype), context, options.rounds))
            for context in options.contexts
        ]
    head = ["context", "DynamicCache.update", "update", "append", "a growing token"]
    print(table([*head, "append with its share of growth", "ratio"], rows))


class _Shape:
    """Makes rows as a layer does: heads before positions, as a view of positions before heads."""

    def __init__(self, made: dict[str, int], dtype: str) -> None:
        self.layers = made["num_hidden_layers"]
        self._heads = made["num_key_value_heads"]
        self._width = made["hidden_size"] // made["num_attention_heads"]
        self._dtype = getattr(torch, dtype)

    def rows(self, count: int) -> Rows:
        both = torch.randn(2, 1, count, self._heads, self._width).to(self._dtype)
        return both[0].transpose(1, 2), both[1].transpose(1, 2)


def _check_equal(shape: _Shape) -> None:
    """Both hold the same after a prefill and tokens that outgrow several buffers."""
    mine, peer = KVCache(), DynamicCache()
    for count in [500, *[1] * 300]:
        for layer in range(shape.layers):
            keys, values = shape.rows(count)
            held, wanted = mine.layer(layer).append(keys, values), peer.update(keys, values, layer)
            if not all(map(torch.equal, held, wanted)):
                sys.exit("the growing layers hold something else than DynamicCache")


def _measure(shape: _Shape, context: int, rounds: int) -> Figures:
    peer, mine, full = DynamicCache(), KVCache(), KVCache(BufferPool(1 << 30))
    row, rows = shape.rows(1), shape.rows(context)
    capacity = capacity_for(context + 1)
    fill = shape.rows(capacity)
    for layer in range(shape.layers):
        peer.update(*rows, layer)
        mine.layer(layer).append(*rows)
    figures = Figures([], [], [], [])
    for _ in range(rounds + 2):
        figures.peer.append(_time(lambda layer: peer.update(*row, layer), shape.layers))
        peer.crop(-1)
        figures.update.append(_time(lambda layer: mine.update(*row, layer), shape.layers))
        mine.truncate(context)
        figures.append.append(_time(lambda layer: mine.layer(layer).append(*row), shape.layers))
        mine.truncate(context)
        full.release()
        for layer in range(shape.layers):
            full.layer(layer).append(*fill)
        figures.growth.append(_time(lambda layer: full.layer(layer).append(*row), shape.layers))
    return Figures(*(times[2:] for times in figures))


def _time(work: Callable[[int], object], layers: int) -> float:
    start = time.perf_counter()
    for layer in range(layers):
        work(layer)
    return 1e3 * (time.perf_counter() - start)


def _row(context: int, figures: Figures) -> list[str]:
    capacity = capacity_for(context + 1)
    tokens = capacity_for(capacity + 1) - capacity
    with_growth = median(figures.append) + median(figures.growth) / tokens
    ratio = with_growth / median(figures.peer)
    cells = [spread(times, "ms", 3) for times in figures]
    return [str(context), *cells, f"{with_growth:.3f} ms", f"{ratio:.3f}x"]


def _options() -> argparse.Namespace:
    parser = common.parser("What one token costs in the KV cache.")
    parser.add_argument("--contexts", type=int, nargs="+", default=[512, 2048, 8192])
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    return parser.parse_args()


if __name__ == "__main__":
    main()
