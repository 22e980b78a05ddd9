"""What the benchmarks of this room share: options, rounds that end in time, tables on a page."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.bench import options as common
from scripts.bench.report import heading


def parser(
    description: str, seconds: float, dtypes: Sequence[str] = ("bfloat16", "float32")
) -> argparse.ArgumentParser:
    """The parser of every benchmark with --quick, --out and --seconds."""
    made = common.parser(description, dtypes)
    made.add_argument("--quick", action="store_true", help="small and soon: shows that it works")
    made.add_argument("--out", type=Path, metavar="FILE", help="write the tables there as well")
    made.add_argument(
        "--seconds", type=float, default=seconds, help="no round begins later than this"
    )
    made.add_argument(
        "--threads",
        type=int,
        default=os.cpu_count() or 1,
        help="of ours; a server alone would ask how many cores are free when it starts",
    )
    return made


def model_flags(path: Path, options: argparse.Namespace) -> tuple[str, ...]:
    """Flags of a server of ``path`` whose requests are those of devices alone."""
    threads = ("--threads", str(options.threads))
    return ("--model", str(path), "--dtype", options.dtype, *threads, "--no-compat")


def parsed(made: argparse.ArgumentParser, quick: Mapping[str, Any]) -> argparse.Namespace:
    """The options; ``quick`` has what --quick takes in place of what was not given."""
    given, _ = made.parse_known_args()
    if given.quick:
        made.set_defaults(**{"shape": "s", "dtype": "float32", "seconds": 30.0, **quick})
    return made.parse_args()


def rounds(
    most: int, seconds: float, least: int = 1, clock: Callable[[], float] = time.monotonic
) -> Iterator[int]:
    """The numbers of ``most`` rounds; after ``seconds`` none begins but the first ``least``."""
    began = clock()
    for number in range(most):
        if number >= least and clock() - began > seconds:
            return
        yield number


class Page:
    """A heading and the text under it; of the commit that there is when it begins."""

    def __init__(self, title: str, dtype: str) -> None:
        self._parts = [heading(title, dtype)]

    def add(self, text: str) -> None:
        """A table or a paragraph."""
        self._parts.append(text.rstrip() + "\n")

    def end(self, out: Path | None) -> None:
        """Print it, and write it to ``out``."""
        text = "\n".join(self._parts)
        print(text, flush=True)
        if out is not None:
            out.write_text(text, "utf-8")
