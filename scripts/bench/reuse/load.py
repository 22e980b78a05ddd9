"""Requests that begin alike and come at once, and sessions that come and go over a full pool.

One real split-server. First ``--together`` devices send prompts with the same ``--common``
positions at the same time, each with a tail of its own: rows that passes took, and when the last
state is there, against the same with ``cache`` ``off``. Then ``--sessions`` sessions live side by
side over a pool of ``--pool`` bytes: what was refused, against the same without keeping, and how
the private memory of the server grows.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from prometheus_client.parser import text_string_to_metric_families

from scripts.bench import options as common
from scripts.bench.process_memory import MB, MemoryWatch, Sample, slope
from scripts.bench.report import counted, heading, spread, table
from scripts.bench.row_sessions import RowSession, Served
from scripts.bench.shapes import random_checkpoint
from scripts.bench.timing import Course, broken_off
from scripts.listening import listening
from split_client.errors import ClientError
from split_wire.errors import SplitError
from split_wire.tiers import Cache

# The server asks for no token.
_NOBODY = ""
_WORKERS = 16
# The first part of the churn fills buffers and pool.
_SETTLED = 1 / 3
# Of --seconds: when the crowds have to be done, and each churn.
_CROWDS_SHARE = 0.3
_CHURNS: tuple[tuple[Cache, float], ...] = (("off", 0.65), ("exact", 1.0))


@dataclass(frozen=True, slots=True)
class Crowd:
    """``seconds`` to each state, the last one last; ``rows`` that passes took."""

    seconds: list[float]
    rows: int


@dataclass(frozen=True, slots=True)
class Churn:
    """``refused`` by kind; ``samples`` of the server's memory."""

    turns: int
    refused: Counter[str]
    samples: list[Sample]
    broken_off: bool


def main() -> None:
    options = _options()
    course, crowds = Course.of(options), list[tuple[Crowd, Crowd]]()
    churns: dict[Cache, Churn] = {}
    with contextlib.ExitStack() as stack, broken_off():
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        flags = (
            *("--model", str(random_checkpoint(options.shape, folder, options.dtype))),
            *("--dtype", options.dtype, "--no-compat", "--kv-reuse", "exact"),
        )
        with listening("serve", *flags) as (url, _):
            bench = Load(Served.at(url, _NOBODY, folder / "cache"), options, course)
            bench.crowd("off")
            while len(crowds) < options.rounds and not (crowds and course.over(_CROWDS_SHARE)):
                crowds.append((bench.crowd("exact"), bench.crowd("off")))
                course.tell(f"{len(crowds)} of {options.rounds} crowds")
        for cache, share in _CHURNS if options.minutes else ():
            with listening("serve", *flags, "--kv-pool-bytes", str(options.pool)) as (url, pid):
                bench = Load(Served.at(url, _NOBODY, folder / "cache"), options, course)
                churns[cache] = bench.churn(cache, pid, share)
                if churns[cache].broken_off:
                    raise KeyboardInterrupt
    _report_crowds(options, crowds)
    _report_churn(churns)


@dataclass(slots=True)
class Tally:
    """What the turns of a churn came to so far."""

    turns: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return counted([("turns", self.turns), *sorted(self.refused.items())])


class Load:
    """Sessions with seeded prompts at one server."""

    def __init__(self, served: Served, options: argparse.Namespace, course: Course) -> None:
        self._served, self._options, self._course = served, options, course
        self._random = np.random.default_rng(13)

    def crowd(self, cache: Cache) -> Crowd:
        """Devices that send a common prefix at once."""
        options = self._options
        prefix = self._tokens(options.common)
        prompts = [[*prefix, *self._tokens(options.tail)] for _ in range(options.together)]
        sessions = [RowSession(self._served, _NOBODY, cache=cache) for _ in prompts]
        for session in sessions:
            session.backend.open()
        ready = threading.Barrier(len(prompts))
        before = self._rows()

        def turn(number: int) -> float:
            ready.wait()
            began = time.perf_counter()
            sessions[number].sequence.extend(prompts[number])
            return time.perf_counter() - began

        with ThreadPoolExecutor(len(prompts)) as threads:
            seconds = sorted(threads.map(turn, range(len(prompts))))
        crowd = Crowd(seconds, self._rows() - before)
        for session in sessions:
            session.close()
        return crowd

    def churn(self, cache: Cache, pid: int, course_share: float) -> Churn:
        """Sessions that go on in turn, each sometimes with a new text."""
        tally, ended = Tally(), threading.Event()
        prefixes = [self._tokens(self._options.common // 4) for _ in range(8)]
        seeds = self._random.integers(0, 1 << 31, _WORKERS)
        watch = MemoryWatch(pid, lambda: 0, 1.0)
        until = time.monotonic() + 60 * self._options.minutes
        share = self._options.sessions // _WORKERS

        def live(seed: int) -> None:
            life = _Life(self._served, cache, prefixes, np.random.default_rng(seed), tally)
            life.go_on(share, lambda: not ended.is_set())

        with ThreadPoolExecutor(_WORKERS) as threads:
            lives = [threads.submit(live, seed) for seed in seeds]
            try:
                while time.monotonic() < until and not self._course.over(course_share):
                    wait(lives, timeout=1.0, return_when=FIRST_EXCEPTION)
                    if any(life.done() for life in lives):
                        break
                    self._course.tell(f"{cache}: {tally}")
                broken = False
            except KeyboardInterrupt:
                broken = True
            finally:
                ended.set()
        if not broken:
            for life in lives:
                life.result()
        return Churn(tally.turns, tally.refused, _samples(watch, broken), broken)

    def _tokens(self, count: int) -> list[int]:
        return [int(token) for token in self._random.integers(0, self._served.vocabulary, count)]

    def _rows(self) -> int:
        """Rows that passes took so far."""
        families = text_string_to_metric_families(_fetched(self._served.url + "/metrics"))
        samples = [sample for family in families for sample in family.samples]
        return round(sum(one.value for one in samples if one.name == "split_rows_total"))


class _Life:
    """Some sessions of one worker, and their texts."""

    def __init__(
        self,
        served: Served,
        cache: Cache,
        prefixes: list[list[int]],
        random: np.random.Generator,
        tally: Tally,
    ) -> None:
        self._served, self._cache, self._prefixes = served, cache, prefixes
        self._random, self._tally = random, tally

    def go_on(self, count: int, more: Callable[[], bool]) -> None:
        """Turns of ``count`` sessions, until there are to be no ``more``."""
        held: list[tuple[RowSession, list[int]]] = []
        while more():
            self._tally.turns += 1
            if len(held) < count:
                session = RowSession(self._served, _NOBODY, patience=0.0, cache=self._cache)
                prefix = self._prefixes[int(self._random.integers(len(self._prefixes)))]
                held.append((session, list(prefix)))
            session, tokens = held[int(self._random.integers(len(held)))]
            drawn = self._random.integers(0, self._served.vocabulary, 24)
            tokens += [int(token) for token in drawn]
            try:
                session.sequence.extend(tokens)
            except (ClientError, SplitError) as error:
                # A server that ends with the run refuses nothing.
                if more():
                    self._tally.refused[type(error).__name__] += 1
            if len(tokens) > 2 * len(self._prefixes[0]):
                held.remove((session, tokens))
                session.close()
        for session, _ in held:
            session.close()


def _samples(watch: MemoryWatch, broken: bool) -> list[Sample]:
    """What was seen of the memory; of a server that has ended already, nothing."""
    try:
        return watch.stop()
    except OSError:
        if not broken:
            raise
        return []


def _fetched(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return str(answer.read(), "utf-8")


def _report_crowds(options: argparse.Namespace, crowds: list[tuple[Crowd, Crowd]]) -> None:
    least = options.common + options.together * options.tail
    if not crowds:
        print("No round of crowds was whole.\n")
        return
    rows = []
    for name, at in (("exact", 0), ("off", 1)):
        ones = [pair[at] for pair in crowds]
        last = [1e3 * one.seconds[-1] for one in ones]
        computed = [one.rows / least for one in ones]
        rows.append([name, spread(last, "ms", 0), spread(computed, "x", 2)])
    ratios = [exact.seconds[-1] / off.seconds[-1] for exact, off in crowds]
    told = f"{options.together} at once, {options.common} common rows, tails of {options.tail}"
    print(heading(f"{told}, shape {options.shape}", options.dtype))
    print(table(["cache", "last state", "rows over one prefix and the tails"], rows))
    print(f"Last state, exact over off: {spread(ratios, 'x', 2)}.\n")


def _report_churn(churns: dict[Cache, Churn]) -> None:
    rows = []
    for cache, churn in churns.items():
        later = churn.samples[int(_SETTLED * len(churn.samples)) :]
        rise = _rise(later)
        refused = ", ".join(f"{count} {kind}" for kind, count in sorted(churn.refused.items()))
        rows.append([cache, f"{churn.turns:,}", refused or "0", rise])
    if rows:
        print(table(["cache", "turns", "refused", "private memory"], rows))


def _rise(samples: list[Sample]) -> str:
    if len(samples) < 2:
        return "-"
    minutes = [one.seconds / 60 for one in samples]
    return f"{slope(minutes, [one.private / MB for one in samples]):.2f} MB/min"


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--common", type=int, default=1024)
    parser.add_argument("--tail", type=int, default=32)
    parser.add_argument("--together", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10.0, help="of churn; 0: none")
    parser.add_argument("--pool", type=int, default=64_000_000, help="bytes of the pool of churn")
    Course.add_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
