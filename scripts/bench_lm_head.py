"""The exact LM head against a float32 product in numpy: equality first, then time and memory.

    python scripts/bench_lm_head.py [--rows 151936] [--hidden 896] [--dtype bf16] [--top 50]
        [--vectors 1000] [--pairs 31] [--threads N]

Weights are random; rows of the "varied" set differ in norm by up to 16, their hidden states lean
towards a row and have eight outlier dimensions. Memory is RssAnon of a process that holds only the
head. Run it on an idle machine: both sides use all the cores they are given.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

# OpenBLAS threads spin for about 25 ms after a product, which would slow whatever is timed next.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head_spec import HeadSpec
from split_client.generation.lm_head import ExactLMHead
from split_client.generation.onnx_session import default_threads
from split_client.generation.ranking import rank_all
from split_client.generation.rows import WeightRows
from split_wire.floats import FloatName, f32_to_bf16

BLOCK = 4096


class Spent(NamedTuple):
    """Seconds: elapsed, and of all threads of the process."""

    wall: float
    cpu: float


def write_weights(path: Path, arguments: argparse.Namespace, varied: bool) -> None:
    """Random rows in the checkpoint dtype, block by block."""
    rng = np.random.default_rng(7)
    columns = np.ones(arguments.hidden, np.float32)
    if varied:
        columns[:: arguments.hidden // 8] = 2.0**-6
    with path.open("wb") as file:
        for start in range(0, arguments.rows, BLOCK):
            count = min(BLOCK, arguments.rows - start)
            block = rng.standard_normal((count, arguments.hidden), dtype=np.float32) * columns
            if varied:
                block *= 2 ** rng.uniform(-2, 2, (count, 1)).astype(np.float32)
            block *= np.float32(0.02)
            file.write(stored(block, arguments.dtype))


def stored(block: NDArray[np.float32], dtype: FloatName) -> bytes:
    if dtype == "bf16":
        return f32_to_bf16(block).tobytes()
    return block.astype({"f32": "<f4", "f16": "<f2"}[dtype]).tobytes()


def states(rows: WeightRows, count: int, varied: bool) -> Iterator[NDArray[np.float32]]:
    """Hidden states; varied ones lean towards a row, with outliers where columns are small."""
    rng = np.random.default_rng(11)
    for _ in range(count):
        state = rng.standard_normal(rows.hidden, dtype=np.float32)
        if varied:
            state[:: rows.hidden // 8] *= 64
            row = rows.take([int(rng.integers(rows.rows))])[0]
            state += row * np.float32(np.sqrt(rows.hidden) / np.linalg.norm(row))
        yield state


def check_equal(head: ExactLMHead, full: NDArray[np.float32], arguments: argparse.Namespace) -> str:
    """Compare ids and logits with numpy's; exits where a set of ids differs beyond rounding."""
    same, reordered, worst = 0, 0, 0.0
    for state in states(head.rows, arguments.vectors, arguments.varied):
        logits = full @ state
        ids, expected = rank_all(logits, arguments.top)
        found = head.top(state, arguments.top)
        worst = max(worst, float(np.abs(found.logits / expected - 1).max()))
        if np.array_equal(ids, found.ids):
            same += 1
        elif np.allclose(found.logits, expected, rtol=1e-5):
            reordered += 1
        else:
            sys.exit(f"ids differ: {ids} and {found.ids}")
    if not head.screened:
        sys.exit("the screen was abandoned")
    return (
        f"{same} of {arguments.vectors} identical top-{arguments.top}, {reordered} differ in a tie "
        f"below float32 rounding, largest relative difference of a logit {worst:.1e}"
    )


def times(
    head: ExactLMHead, full: NDArray[np.float32], arguments: argparse.Namespace
) -> tuple[list[Spent], list[Spent]]:
    """What (numpy product, exact top) take, interleaved."""
    numpy_times, head_times = [], []
    for state in states(head.rows, arguments.pairs + 2, arguments.varied):
        numpy_times.append(timed(partial(np.matmul, full, state)))
        head_times.append(timed(partial(head.top, state, arguments.top)))
    return numpy_times[2:], head_times[2:]


def timed(work: Callable[[], object]) -> Spent:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def median_ms(spent: list[Spent]) -> tuple[float, float]:
    """Medians of (wall, CPU) in milliseconds."""
    return (
        1e3 * statistics.median(one.wall for one in spent),
        1e3 * statistics.median(one.cpu for one in spent),
    )


def memory(folder: Path, arguments: argparse.Namespace) -> str:
    """RssAnon and start time of a process that opens the head and decodes 20 tokens."""
    command = [sys.executable, __file__, "--holding", str(folder)]
    for name in ("rows", "hidden", "dtype", "top", "threads"):
        command += [f"--{name}", str(getattr(arguments, name))]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def hold(folder: Path, arguments: argparse.Namespace) -> None:
    before = private_mb()
    start = time.perf_counter()
    head = open_head(folder, arguments)
    opened = time.perf_counter() - start
    for state in states(head.rows, 20, varied=False):
        head.top(state, arguments.top)
    weights = head.rows.nbytes / 1e6
    after = private_mb()
    print(
        f"second start {opened:.2f} s; RssAnon {after:.0f} MB ({before:.0f} MB before the head), "
        f"{(after - before) / weights:.2f}x of {weights:.0f} MB of weights"
    )


def private_mb() -> float:
    """RssAnon of this process in MB; NaN where /proc is missing."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(fields["RssAnon"].split()[0]) * 1024 / 1e6


def open_head(folder: Path, arguments: argparse.Namespace) -> ExactLMHead:
    rows = WeightRows.open(folder / "rows", arguments.dtype, arguments.rows, arguments.hidden)
    screen = folder / "screen-v1"
    return ExactLMHead.open(rows, HeadSpec(), screen_path=screen, threads=arguments.threads)


def bench(arguments: argparse.Namespace, varied: bool) -> None:
    arguments.varied = varied
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        write_weights(folder / "rows", arguments, varied)
        start = time.perf_counter()
        head = open_head(folder, arguments)
        built = time.perf_counter() - start
        full = np.concatenate([block for _, block in head.rows.blocks(BLOCK)])
        print(f"{'varied' if varied else 'random'}: {check_equal(head, full, arguments)}")
        numpy_times, head_times = times(head, full, arguments)
        (numpy_ms, numpy_cpu), (head_ms, head_cpu) = map(median_ms, (numpy_times, head_times))
        bandwidth = full.nbytes / 4 / head_ms / 1e6
        print(
            f"  numpy float32 product {numpy_ms:.2f} ms (CPU {numpy_cpu:.2f}), exact "
            f"top-{arguments.top} {head_ms:.2f} ms (CPU {head_cpu:.2f}; {bandwidth:.0f} GB/s of "
            f"int8): {head_ms / numpy_ms:.2f}x, CPU {head_cpu / numpy_cpu:.2f}x"
        )
        del full, head
        print(f"  first start {built:.2f} s; {memory(folder, arguments)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=151_936)
    parser.add_argument("--hidden", type=int, default=896)
    parser.add_argument("--dtype", choices=["f32", "bf16", "f16"], default="bf16")
    parser.add_argument("--top", type=int, default=50)
    parser.add_argument("--vectors", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=31)
    parser.add_argument("--threads", type=int, default=default_threads(), help="of onnxruntime")
    parser.add_argument("--folder", type=Path, help="where the weight file is written")
    parser.add_argument("--holding", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.holding:
        hold(arguments.holding, arguments)
        return
    import onnxruntime

    print(
        f"{arguments.rows} x {arguments.hidden} {arguments.dtype}, onnxruntime "
        f"{onnxruntime.__version__}, {arguments.threads} threads, numpy {np.__version__}"
    )
    for varied in (False, True):
        bench(arguments, varied)


if __name__ == "__main__":
    main()
