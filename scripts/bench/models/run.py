"""Several models in one process: ``python -m scripts.bench.models.run``.

A session decodes on the first model while a second one is loaded and idle, while both compute, and
while the second comes and goes. Both are compared with ``generate`` first.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from scripts.bench.models.loaded import Loaded, Step
from scripts.bench.models.loads import Load, summary
from scripts.bench.report import heading, interval, median, private_bytes, spread, table
from scripts.bench.shapes import SHAPES, served_checkpoint
from scripts.bench.timing import Course
from split_server.serving.loading.loading import Loading


def main() -> None:
    options = _options()
    with ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        paths = [served_checkpoint(name, folder, "float32") for name in (options.a, options.b)]
        loading = Loading(several=True)
        first = Loaded(loading, paths[0], options.threads)
        first.check(paths[0])
        make = lambda: Loaded(loading, paths[1], options.threads)  # noqa: E731
        second = make()
        second.check(paths[1])
        second.close()
        # As a server does once its first model is there.
        gc.collect()
        gc.freeze()
        rows = [_idle(first, make, options), *_busy(first, make, options)]
        rows += _loads(first, make, options)
        first.close()
    print(heading(f"Several models: {options.a} and {options.b}", "float32"))
    print(f"{options.threads or 'As many as fit'} threads a product.\n")
    print(table(["figure", "found", "bar"], rows))


Make = Callable[[], Loaded]


def _idle(first: Loaded, make: Make, options: argparse.Namespace) -> list[str]:
    """A step beside a model that is loaded and idle, over one alone, in turn."""
    ratios = []
    for _ in range(options.rounds):
        alone = _middle(first.decode(threading.Event(), options.steps))
        second = make()
        second.decode(threading.Event(), 2)
        beside = _middle(first.decode(threading.Event(), options.steps))
        second.close()
        again = _middle(first.decode(threading.Event(), options.steps))
        ratios.append(2 * beside / (alone + again))
    low, high = interval(ratios)
    found = f"{median(ratios):.3f}x ({low:.3f} to {high:.3f})"
    return ["step while the other is loaded and idle", found, "<= 1.02x"]


def _busy(first: Loaded, make: Make, options: argparse.Namespace) -> list[list[str]]:
    """Rows a second of both together, each over what it has alone."""
    second, sums, shares = make(), [], []
    for _ in range(options.rounds):
        alone = [_rates([model], options.seconds)[0] for model in (first, second)]
        both = _rates([first, second], options.seconds)
        part = [together / one for together, one in zip(both, alone, strict=True)]
        sums.append(sum(part))
        shares.append(part[0] / sum(part))
    second.close()
    return [
        ["both busy: rows/s of each over its own alone, summed", spread(sums, "x"), ">= .9"],
        ["share of the time that the first has then", spread(shares, ""), "even: .5"],
    ]


def _loads(first: Loaded, make: Make, options: argparse.Namespace) -> list[list[str]]:
    """Load the second and let it go while the first decodes."""
    # As many as there are meanwhile, about.
    count = max(options.steps, options.loads * options.steps // 2)
    alone = first.decode(threading.Event(), count)
    stop, course, loads = threading.Event(), Course(), list[Load]()
    with ThreadPoolExecutor(1) as thread:
        steps = thread.submit(first.decode, stop)
        try:
            for number in range(options.loads):
                loads.append(Load.timed(make, private_bytes))
                course.tell(f"load {number + 1} of {options.loads}")
        finally:
            stop.set()
    meanwhile = steps.result()
    alone += first.decode(threading.Event(), count)
    return summary(loads, meanwhile, alone)


def _rates(models: Sequence[Loaded], seconds: float) -> list[float]:
    stop = threading.Event()
    with ThreadPoolExecutor(len(models)) as threads:
        running = [threads.submit(model.decode, stop) for model in models]
        threading.Event().wait(seconds)
        stop.set()
    return [len(one.result()) / seconds for one in running]


def _middle(steps: Sequence[Step]) -> float:
    return median([step.seconds for step in steps])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["embedded", *SHAPES]
    parser.add_argument("--a", choices=names, default="smollm2", help="the first model")
    parser.add_argument("--b", choices=names, default="embedded", help="the second one")
    parser.add_argument("--folder", help="keep made-up checkpoints here")
    parser.add_argument("--threads", type=int, default=0, help="of a product; 0: as the server")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=40, help="of a round, alone and beside")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round of both")
    parser.add_argument("--loads", type=int, default=100)
    return parser.parse_args()


if __name__ == "__main__":
    main()
