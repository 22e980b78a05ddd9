"""A server that keeps on disk, and sessions that send prompts of random tokens to it."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scripts.bench.row_sessions import RowSession, Served
from scripts.listening import listening
from split_wire.tiers import Cache

_NOBODY = ""
# Of states in bfloat16, which other slices of the same sums round otherwise.
_LEAST_COSINE = {"float32": 0.999999, "bfloat16": 0.999}
_PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Turn:
    """Milliseconds from the beginning of a session to its state."""

    ms: float
    restored: int
    hidden: np.ndarray


@dataclass(frozen=True, slots=True)
class Server:
    """A running server at ``url``; ``served`` what it serves."""

    url: str
    pid: int
    served: Served

    def turn(self, prompt: list[int], cache: Cache = "exact", *, asks: bool = True) -> Turn:
        """A session of its own from its beginning to the state of ``prompt``."""
        session = RowSession(self.served, _NOBODY, cache=cache, asks=asks)
        began = time.perf_counter()
        extended = session.sequence.extend(prompt)
        ms = 1e3 * (time.perf_counter() - began)
        session.close()
        return Turn(ms, extended.restored, extended.hidden)

    def metric(self, name: str) -> float:
        """The value of one metric, labels included."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=_PATIENCE) as answer:
            lines = answer.read().decode().splitlines()
        return next((float(line.split()[-1]) for line in lines if line.startswith(name)), 0.0)

    def files(self) -> int:
        """Run files that it knows."""
        return int(self.metric('split_kv_runs{state="written",tier="disk"}'))


@contextmanager
def serving(path: Path, folder: Path, dtype: str, *more: str) -> Iterator[Server]:
    """A server that keeps in ``folder``."""
    kept = ("--kv-reuse", "exact", "--kv-disk", str(folder / "kv"))
    state = ("--state", str(folder / "state"))
    flags = ("--model", str(path), "--dtype", dtype, "--no-compat", *kept, *state, *more)
    with listening("serve", *flags) as (url, pid):
        yield Server(url, pid, Served.at(url, _NOBODY, folder / "cache"))


def prompts(vocabulary: int, length: int, count: int, seed: int = 11) -> list[list[int]]:
    """Prompts of random tokens."""
    drawn = np.random.default_rng(seed).integers(0, vocabulary, (count, length))
    return [[int(token) for token in row] for row in drawn]


def alike(one: Turn, other: Turn, dtype: str) -> bool:
    """Whether the states are the same but for rounding."""
    left, right = one.hidden.astype(np.float64), other.hidden.astype(np.float64)
    cosine = left @ right / np.sqrt(left @ left * (right @ right))
    return bool(cosine >= _LEAST_COSINE[dtype])


def wait_until(true: Callable[[], bool]) -> float:
    """Seconds until ``true()`` is so. Raises SystemExit where that takes minutes."""
    began = time.monotonic()
    while not true():
        if time.monotonic() - began > _PATIENCE:
            raise SystemExit("what was waited for did not come")
        time.sleep(0.05)
    return time.monotonic() - began
