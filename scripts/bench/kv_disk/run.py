"""What reading a prompt's keys and values from disk costs against computing them, and a start.

One real split-server at a time. Prompts are computed, the server is ended and started again, and
the same prompts are asked for: the time that reading and decryption took, as the server counts it,
over that of computing, and the time to the state over that of a session for which nothing is
looked up. Then a start with many files: how soon the first prompt is answered, and when all are
known. The states are compared before anything is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.bench import options as common
from scripts.bench.kv_disk.filling import fill
from scripts.bench.kv_disk.kept import Server, Turn, alike, prompts, serving, wait_until
from scripts.bench.report import heading, spread, table
from scripts.bench.shapes import random_checkpoint

# Of computing: reading and decryption; seconds until all files are known.
_MOST_OF_COMPUTING, _MOST_SECONDS = 0.01, 10.0


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        path = random_checkpoint(options.shape, folder, options.dtype)
        _restore(options, path, folder / "restored")
        _start(options, path, folder / "many")


def _restore(options: argparse.Namespace, path: Path, folder: Path) -> None:
    with serving(path, folder, options.dtype) as server:
        texts = prompts(server.served.vocabulary, options.prompt, options.rounds + 1)
        # The first one is not counted: a model's first passes are slower.
        computed = [server.turn(text, "off") for text in texts][1:]
        for text in texts:
            server.turn(text)
        runs = (options.rounds + 1) * -(-(options.prompt - options.prompt % 16) // 256)
        wait_until(lambda: server.files() >= runs)
    with serving(path, folder, options.dtype) as server:
        wait_until(lambda: server.files() >= runs)
        server.turn(texts[0])
        restored, seconds = [], []
        for text in texts[1:]:
            turn, took = _read(server, text)
            restored.append(turn)
            seconds.append(took)
    _compare(options, computed, restored)
    shares = [1e3 * took / turn.ms for took, turn in zip(seconds, computed, strict=True)]
    ratios = [old.ms / new.ms for old, new in zip(computed, restored, strict=True)]
    print(heading(f"{options.prompt} positions from disk, shape {options.shape}", options.dtype))
    rows = [
        ["all computed", spread([turn.ms for turn in computed], "ms", 0)],
        ["after a restart", spread([turn.ms for turn in restored], "ms", 0)],
        ["ratio", spread(ratios, "x", 1)],
        ["reading and decryption", spread([1e3 * took for took in seconds], "ms", 1)],
        ["of computing", spread([100 * share for share in shares], "%", 2)],
    ]
    print(table(["to the state", "median"], rows))
    kept = _told(max(shares) <= _MOST_OF_COMPUTING)
    print(f"At most {100 * _MOST_OF_COMPUTING:g}% of computing: {kept}\n")


def _read(server: Server, text: list[int]) -> tuple[Turn, float]:
    """A turn that restores from disk, and the seconds that the server read."""
    name = 'split_kv_disk_seconds_total{work="read"}'
    before = server.metric(name)
    turn = server.turn(text)
    return turn, server.metric(name) - before


def _compare(options: argparse.Namespace, computed: list[Turn], restored: list[Turn]) -> None:
    for one, other in zip(computed, restored, strict=True):
        if other.restored < options.prompt - 32:
            raise SystemExit(f"{other.restored} of {options.prompt} positions were restored")
        if not alike(one, other, options.dtype):
            raise SystemExit("what was read gives another state")


def _start(options: argparse.Namespace, path: Path, folder: Path) -> None:
    with serving(path, folder, options.dtype) as server:
        text = prompts(server.served.vocabulary, options.prompt, 1, seed=12)[0]
        alone = server.turn(text, "off")
    fill(folder, options.files)
    with serving(path, folder, options.dtype) as server:
        began = time.monotonic()
        with ThreadPoolExecutor(1) as asking:
            asked = asking.submit(server.turn, text)
            wait_until(lambda: server.files() >= options.files)
            seconds = time.monotonic() - began
            first = asked.result()
    print(heading(f"A start with {options.files:,} files", options.dtype))
    print(
        f"First prompt after the start: {first.ms:.0f} ms, {alone.ms:.0f} ms without files. "
        f"All files known {seconds:.1f} s after it listened, at most {_MOST_SECONDS:g} s: "
        f"{_told(seconds <= _MOST_SECONDS)}\n"
    )


def _told(kept: bool) -> str:
    return "kept" if kept else "NOT KEPT"


def _options() -> argparse.Namespace:
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--prompt", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--files", type=int, default=10_000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
