"""Wall time and processor time of one piece of work, and how far a long run is."""

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

# Seconds between two lines of progress.
_APART = 10.0


@dataclass(frozen=True, slots=True)
class Lap:
    """Milliseconds on the clock, and of all threads of this process on the processors."""

    ms: float
    cpu_ms: float

    @staticmethod
    def columns(laps: Sequence[Lap]) -> dict[str, list[float]]:
        """As a worker answers them."""
        return {"ms": [lap.ms for lap in laps], "cpu_ms": [lap.cpu_ms for lap in laps]}


def timed(work: Callable[[], object]) -> Lap:
    """Do ``work`` once."""
    begin, cpu = time.perf_counter(), time.process_time()
    work()
    return Lap(1e3 * (time.perf_counter() - begin), 1e3 * (time.process_time() - cpu))


class Course:
    """A run that tells on the error stream how far it is, and is ``over`` after ``seconds``."""

    def __init__(
        self,
        seconds: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
        say: Callable[[str], object] = lambda line: print(line, file=sys.stderr, flush=True),
    ) -> None:
        self._clock, self._say, self._seconds = clock, say, seconds
        self._began, self._told = clock(), -math.inf

    @classmethod
    def of(cls, options: argparse.Namespace) -> Course:
        """With the ``--seconds`` of :meth:`add_option`."""
        return cls(options.seconds or math.inf)

    @staticmethod
    def add_option(parser: argparse.ArgumentParser) -> None:
        """--seconds."""
        parser.add_argument(
            "--seconds",
            type=float,
            default=0.0,
            help="end after about so many; 0: when all is done",
        )

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._began

    def over(self, share: float = 1.0) -> bool:
        """Whether this ``share`` of its seconds has gone."""
        return self.elapsed >= share * self._seconds

    def tell(self, line: str) -> None:
        """Say ``line`` with the time, unless another one was said just before."""
        if self.elapsed - self._told >= _APART:
            self._told = self.elapsed
            self._say(f"{self.elapsed:6.0f} s  {line}")


@contextmanager
def broken_off(say: Callable[[str], object] = print) -> Iterator[None]:
    """What runs inside ends here with an interrupt or SIGTERM, so that what it counted is told."""

    def end(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    # A program that was started in the background has interrupts ignored.
    before = {each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    except KeyboardInterrupt:
        say("Broken off; counted until then:")
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
