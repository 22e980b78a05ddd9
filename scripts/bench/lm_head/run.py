"""The LM heads against a float32 product in numpy: equality first, then time and memory.

    python -m scripts.bench.lm_head.run [--rows 151936] [--hidden 896] [--dtype bf16] [--top 50]
        [--vectors 1000] [--pairs 31] [--threads N] [--kinds exact compact ...]

Weights are random. "identical": ids and order are those of the peer (exact, full) or of the exact
head (compact). "deepest": how far down the compact head's estimates a row of
the top was found; the shortlist has 512. Private memory is RssAnon of a process that holds only the
head, and what that is of the weights. Run it on an idle machine: both sides use all the cores they
are given. Ends with an error where a screened top differs beyond float32 rounding, or a compact one
on more than 1 of 200.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

# OpenBLAS threads spin for about 25 ms after a product, which would slow whatever is timed next.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

import numpy as np
from numpy.typing import NDArray

from scripts.bench.lm_head.inputs import BLOCK, Inputs
from scripts.bench.lm_head.kinds import KINDS, held, open_head
from scripts.bench.report import heading, median, table
from split_client.generation.head.compact.head import CompactLMHead
from split_client.generation.head.head import LMHead
from split_client.generation.head.onnx_session import default_threads
from split_client.generation.head.ranking import rank_all

HEADINGS = (
    "rows",
    "LM head",
    "numpy float32",
    "top-k",
    "ratio",
    "CPU",
    "CPU ratio",
    "identical",
    "deepest",
    "private memory",
    "of the weights",
    "first start",
    "second",
)
MOST_DIFFERENT = 0.005


Ranked = tuple[NDArray[np.int64], NDArray[np.float32]]


class Spent(NamedTuple):
    """Seconds: elapsed, and of all threads of the process."""

    wall: float
    cpu: float


class Agreement(NamedTuple):
    """Of ``vectors``: tops with the same ids in the same order, and tops that differ otherwise than
    in a tie below float32 rounding; ``deepest`` place of a row of the top among the estimates.
    """

    vectors: int
    identical: int
    different: int
    deepest: int | None

    def cells(self) -> tuple[str, str]:
        deepest = "-" if self.deepest is None else str(self.deepest)
        return f"{self.identical} of {self.vectors}", deepest


def reference(
    kind: str,
    full: NDArray[np.float32],
    folder: Path,
    inputs: Inputs,
    arguments: argparse.Namespace,
) -> Callable[[NDArray[np.float32]], Ranked]:
    """The reference of ``kind``: numpy's product, for a compact head the exact head."""
    if kind.startswith("compact"):
        exact = open_head("exact", folder, inputs, arguments.threads)
        return lambda state: exact.top(state, arguments.top)[:2]
    return lambda state: rank_all(full @ state, arguments.top)


def agreement(
    head: LMHead,
    expected_top: Callable[[NDArray[np.float32]], Ranked],
    inputs: Inputs,
    arguments: argparse.Namespace,
) -> Agreement:
    """Compare ids and logits with those that ``expected_top`` gives of a hidden state."""
    identical, different, deepest = 0, 0, None
    for state in inputs.states(head.rows, arguments.vectors):
        ids, expected = expected_top(state)
        found = head.top(state, arguments.top)
        if np.array_equal(ids, found.ids):
            identical += 1
        elif not np.allclose(found.logits, expected, rtol=1e-5):
            different += 1
        if isinstance(head, CompactLMHead) and head.estimator is not None:
            estimates = head.estimator(state)
            place = int(np.count_nonzero(estimates >= estimates[ids].min()))
            deepest = max(place, deepest or 0)
    return Agreement(arguments.vectors, identical, different, deepest)


def times(
    head: LMHead, full: NDArray[np.float32], inputs: Inputs, arguments: argparse.Namespace
) -> tuple[Spent, Spent]:
    """Medians of what (numpy product, top of the head) take, interleaved."""
    numpy_times, head_times = [], []
    for state in inputs.states(head.rows, arguments.pairs + 2):
        numpy_times.append(timed(partial(np.matmul, full, state)))
        head_times.append(timed(partial(head.top, state, arguments.top)))
    return medians(numpy_times[2:]), medians(head_times[2:])


def timed(work: Callable[[], object]) -> Spent:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def medians(spent: list[Spent]) -> Spent:
    return Spent(median([one.wall for one in spent]), median([one.cpu for one in spent]))


def bench(kind: str, folder: Path, inputs: Inputs, arguments: argparse.Namespace) -> list[str]:
    """One line of the table. Exits where the head is not as equal as it has to be."""
    inputs.open(folder)
    start = time.perf_counter()
    head = open_head(kind, folder, inputs, arguments.threads)
    built = time.perf_counter() - start
    full = np.concatenate([block for _, block in head.rows.blocks(BLOCK)])
    expected_top = reference(kind, full, folder, inputs, arguments)
    agreed = agreement(head, expected_top, inputs, arguments)
    allowed = MOST_DIFFERENT * agreed.vectors if kind.startswith("compact") else 0
    if agreed.different > allowed:
        sys.exit(f"{kind}: {agreed}")
    peer, own = times(head, full, inputs, arguments)
    weights = head.rows.nbytes
    del full, head, expected_top
    memory = held(kind, folder, inputs, arguments.threads)
    return [
        "varied" if inputs.varied else "random",
        kind,
        f"{1e3 * peer.wall:.2f} ms",
        f"{1e3 * own.wall:.2f} ms",
        f"{own.wall / peer.wall:.2f}x",
        f"{1e3 * own.cpu:.2f} ms",
        f"{own.cpu / peer.cpu:.2f}x",
        *agreed.cells(),
        f"{memory.after / 1e6:.0f} MB ({memory.before / 1e6:.0f} MB before the head)",
        f"{(memory.after - memory.before) / weights:.2f}x",
        f"{built:.2f} s",
        f"{memory.opened_s:.2f} s",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=151_936)
    parser.add_argument("--hidden", type=int, default=896)
    parser.add_argument("--dtype", choices=["f32", "bf16", "f16"], default="bf16")
    parser.add_argument("--top", type=int, default=50)
    parser.add_argument("--vectors", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=31)
    parser.add_argument("--threads", type=int, default=default_threads(), help="of onnxruntime")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--folder", type=Path, help="where the weight file is written")
    arguments = parser.parse_args()
    lines = []
    for varied in (False, True):
        inputs = Inputs(arguments.rows, arguments.hidden, arguments.dtype, varied)
        with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
            for kind in arguments.kinds:
                lines.append(bench(kind, Path(name), inputs, arguments))
                print(*lines[-1], sep=" | ", file=sys.stderr)
    shape = f"{arguments.rows} x {arguments.hidden}, top-{arguments.top}"
    print(heading(f"LM head of {shape}, onnxruntime threads: {arguments.threads}", arguments.dtype))
    print(table(HEADINGS, lines))


if __name__ == "__main__":
    main()
