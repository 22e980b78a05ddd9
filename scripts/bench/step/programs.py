"""The programs whose decode steps are compared, each a worker process of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scripts.bench.workers import Worker
from scripts.paths import ROOT

STOCK, PLAIN, PACKED, INT8 = "stock", "ours, plain", "ours, packed", "ours, int8"
_OURS = {
    PLAIN: {"linears": "plain"},
    PACKED: {"linears": "packed"},
    INT8: {"quantize": "int8"},
}


@contextmanager
def programs(path: Path, dtype: str, threads: int) -> Iterator[dict[str, Worker]]:
    """The stock model and ours with each kind of linear layers, by name."""
    with ExitStack() as stack:
        found = {STOCK: Worker("scripts.bench.peers.stock", str(path), dtype, "cpu", str(threads))}
        stack.callback(found[STOCK].close)
        for name, options in _OURS.items():
            load = json.dumps({**options, "threads": threads})
            found[name] = Worker("scripts.bench.step.runner", str(path), dtype, load)
            stack.callback(found[name].close)
        yield found


@contextmanager
def llama(
    python: str, kind: str, path: Path, folder: Path, threads: int, context: int, sessions: int
) -> Iterator[tuple[str, Worker]]:
    """llama.cpp with the same model in a GGUF file of ``kind``, and its name."""
    file = folder / f"{path.name}-{kind}.gguf"
    if not file.exists():
        partial = file.with_suffix(".partial")
        command = [python, "-m", "scripts.bench.peers.gguf_file", str(path), str(partial), kind]
        subprocess.run(command, check=True, cwd=ROOT)
        partial.rename(file)
    arguments = (str(file), str(threads), str(context), str(sessions))
    worker = Worker("scripts.bench.peers.llama", *arguments, python=python)
    try:
        yield f"llama.cpp, {kind}", worker
    finally:
        worker.close()
