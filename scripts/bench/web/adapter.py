"""An encrypted adapter in Chromium against a real adapter host: milliseconds of a token.

    python -m scripts.bench.web.adapter [--tokens 200] [--rounds 3] [--shapes 192x16 896x16 ...]

The page's own worker makes keys, encrypts and decrypts; the host is the real one with SEAL, over
HTTP on this machine, in a process of its own. "encrypt" and "decrypt" are the waits of the page's
engine for its worker, messages included; "with the host" is a whole token, from the hidden state to
the adapted one. CPU is that of the page's process, all threads. Of each, the median of the tokens,
least of the rounds. Before anything is timed, one state is compared with the product in float64.
Ends with an error where encrypt and decrypt of 896x16 together take more than 6 ms.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from scripts.bench.report import heading, median, table
from scripts.bench.web.loop_peer.chromium import Browser, browser
from tests.adapter_hosts import made_adapter, made_host, running_host

SHAPES = ((192, 16), (896, 16), (1536, 32), (4096, 32), (8192, 64))
BAR, BAR_SHAPE = 6.0, (896, 16)
# A product's error, relative to its length.
MOST_APART = 1e-4
_SCALE = 0.01


class Timed(NamedTuple):
    """Milliseconds."""

    keys: float
    encrypt: float
    decrypt: float
    token: float
    cpu: float


def main() -> int:
    options = _options()
    with browser() as chromium:
        found = {shape: _least(chromium, shape, options) for shape in options.shapes}
    print(heading("An encrypted adapter in the page", "float32"))
    head = ["d x r", "list, B and keys", "encrypt", "decrypt", "both", "with the host", "CPU"]
    print(table(head, [_row(shape, timed) for shape, timed in found.items()]))
    bar = found.get(BAR_SHAPE)
    return int(bar is not None and bar.encrypt + bar.decrypt > BAR)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shapes", type=_shape, nargs="+", default=SHAPES)
    return parser.parse_args()


def _shape(text: str) -> tuple[int, int]:
    hidden, rank = text.split("x")
    return int(hidden), int(rank)


def _least(chromium: Browser, shape: tuple[int, int], options: argparse.Namespace) -> Timed:
    """Of each part the least of the rounds."""
    with _host(shape, chromium.origin) as url:
        rounds = [_round(chromium, url, shape, options.tokens) for _ in range(options.rounds)]
    return Timed._make(min(part) for part in zip(*rounds, strict=True))


def _round(chromium: Browser, url: str, shape: tuple[int, int], tokens: int) -> Timed:
    hidden, _ = shape
    states = np.random.default_rng(1).normal(0, 2, (8, hidden)).astype(np.float32)
    with chromium.tab() as tab:
        keys = tab.ask("adapter", "open", host=url, hiddenSize=hidden)
        warm = tab.ask("adapter", "tokens", states=states.tolist())
        _require(shape, states[-1], np.array(warm["corrected"]))
        before = tab.seconds
        many = [states[i % len(states)].tolist() for i in range(tokens)]
        told = tab.ask("adapter", "tokens", states=many)
        cpu = (tab.seconds - before) / tokens * 1000
    return Timed(keys, *(median(told[part]) for part in ("encrypt", "decrypt", "token")), cpu)


def _require(shape: tuple[int, int], state: Any, corrected: Any) -> None:
    file = made_adapter("made", *shape, scale=_SCALE)
    wide = state.astype(np.float64)
    delta = _SCALE * (file.b.astype(np.float64) @ (file.a.astype(np.float64) @ wide))
    apart = float(np.linalg.norm(corrected - wide - delta) / np.linalg.norm(delta))
    if not apart < MOST_APART:
        sys.exit(f"{shape}: what the adapter adds is {apart:.2g} apart from the product")


@contextmanager
def _host(shape: tuple[int, int], origin: str) -> Iterator[str]:
    """A host in a process of its own; gives its URL."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(shape, origin, there)
    )
    process.start()
    try:
        yield here.recv()
    finally:
        here.send(None)
        process.join()


def _serve(shape: tuple[int, int], origin: str, there: Connection) -> None:
    made = made_host({"made": made_adapter("made", *shape, scale=_SCALE)})
    with running_host(made, allow_origin=(origin,)) as host:
        there.send(host.url)
        there.recv()


def _row(shape: tuple[int, int], timed: Timed) -> list[str]:
    both = timed.encrypt + timed.decrypt
    parts = (timed.keys, timed.encrypt, timed.decrypt, both, timed.token, timed.cpu)
    return [f"{shape[0]}x{shape[1]}", *(f"{part:.2f} ms" for part in parts)]


if __name__ == "__main__":
    sys.exit(main())
