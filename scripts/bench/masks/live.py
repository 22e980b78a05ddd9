"""One-time masks over a real adapter host: what a token waits for, and what the host computes.

    python -m scripts.bench.masks.live [--shape 896x16] [--tokens 256] [--pairs 9]

A host in a process of its own and the device's client here, over loopback, no model: replies of so
many states with masks and without, one after the other. Processor time of the host is of all its
processes, the web server's work included.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from scripts.bench.adapter.made import NAME, made_adapter
from scripts.bench.he.run import shape
from scripts.bench.report import finish, heading, median, spread, table
from scripts.listening import listening
from split_client.crypto.hosted import HostedAdapters
from split_client.generation.sequence import Sequence

_FILL_SECONDS = 60.0


@dataclass(frozen=True)
class _Model:
    hidden_size: int


@dataclass(frozen=True)
class _Reply:
    """Milliseconds for each state: of the reply, and of what was done ahead of it."""

    wall: float
    host: float
    host_ahead: float


class _Bench:
    """``masks``: a client with so many for each reply."""

    def __init__(self, url: str, pid: int, hidden: int, masks: int) -> None:
        self._model, self._host = _Model(hidden), psutil.Process(pid)
        self.adapters = HostedAdapters(url, None, self._model, masks=masks)
        self._sequence = Sequence(None, lambda _: np.zeros((1, hidden), np.float32))  # type: ignore[arg-type]
        self._states = np.random.default_rng(0).normal(0, 2, (64, hidden)).astype(np.float32)

    def reply(self, tokens: int) -> _Reply:
        """A reply, and then the masks of the next one."""
        self.adapters.prepare(NAME)
        self._filled()
        before = self._cpu()
        self.adapters.use(NAME, self._sequence)
        correct, walls = self._sequence.correct, []
        assert correct is not None
        for number in range(tokens):
            begun = time.perf_counter()
            correct(self._states[number % 64])
            walls.append(1e3 * (time.perf_counter() - begun))
        ended = self._cpu()
        self._filled()
        ahead = self._cpu() - ended
        return _Reply(median(walls), (ended - before) / tokens, ahead / tokens)

    def _filled(self) -> None:
        until = time.monotonic() + _FILL_SECONDS
        while self.adapters.masks.ready < self.adapters.masks.wanted:
            if time.monotonic() > until:
                raise SystemExit(f"no masks: {self.adapters.masks.reason}")
            time.sleep(0.01)

    def _cpu(self) -> float:
        times = [one.cpu_times() for one in (self._host, *self._host.children(recursive=True))]
        return 1e3 * float(sum(t.user + t.system for t in times))


@contextlib.contextmanager
def _benches(hidden: int, rank: int, tokens: int) -> Iterator[tuple[_Bench, _Bench]]:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ["SPLIT_DATA"] = str(folder / "data")
        flags = ("--adapters", str(made_adapter(folder / "adapters", hidden, rank)))
        host, pid = stack.enter_context(listening("adapters", *flags, "--workers", "1"))
        pair = _Bench(host, pid, hidden, tokens), _Bench(host, pid, hidden, 0)
        for bench in pair:
            stack.callback(bench.adapters.close)
        yield pair


def main() -> None:
    options = _options()
    hidden, rank = options.shape
    rows: dict[str, list[_Reply]] = {"masked": [], "encrypted": []}
    with _benches(hidden, rank, options.tokens) as pair:
        for number in range(options.pairs + 1):
            for kind, bench in zip(rows, pair, strict=True):
                reply = bench.reply(options.tokens)
                rows[kind] += [reply] if number else []
        used = pair[0].adapters.masks.used
    print(heading(f"Masks over a host, {hidden}x{rank}", "float32 adapter"))
    print(f"{options.pairs} pairs of {options.tokens} states.\n")
    head = ["", "a state takes", "CPU of the host, with it", "CPU of the host, ahead"]
    print(table(head, [_row(kind, replies) for kind, replies in rows.items()]))
    wanted = options.tokens * (options.pairs + 1)
    finish([] if used == wanted else [f"{used} of {wanted} states had a mask"])


def _row(kind: str, replies: list[_Reply]) -> list[str]:
    columns = (
        [getattr(reply, name) for reply in replies] for name in ("wall", "host", "host_ahead")
    )
    return [kind, *(spread(column, "ms") for column in columns)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shape", type=shape, default=shape("896x16"))
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--pairs", type=int, default=9)
    return parser.parse_args()


if __name__ == "__main__":
    main()
