"""The programs whose decode steps are compared, each a worker process of its own."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from scripts.bench.step.other import other_name, other_worker
from scripts.bench.workers import Worker
from scripts.paths import ROOT
from split_server.engine.model.openmp import prepare_openmp
from split_server.serving.config import ComputeConfig
from split_settings.declare import settings_of

STOCK, OURS, PLAIN = "stock", "ours", "ours, plain"
INT8, INT4 = "ours, int8", "ours, int4"
# What the server would be told; without options it chooses by itself.
_OPTIONS: dict[str, dict[str, Any]] = {
    OURS: {},
    PLAIN: {"linears": "plain"},
    INT8: {"quantize": "int8"},
    INT4: {"quantize": "int4"},
}
MINE = {"default": OURS, "plain": PLAIN, "int8": INT8, "int4": INT4}
LLAMA_TYPES = ("f16", "bf16", "q8_0", "q4_0", "q4_K")
_WRITTEN = ("f16", "bf16")


def possible() -> list[str]:
    """The names in ``MINE`` of what this tree's server can be told."""
    told = next(one for one in settings_of(ComputeConfig) if one.name == "quantize")
    quantized = told.details.choices or ()
    return [
        one for one, name in MINE.items() if _OPTIONS[name].get("quantize") in (None, *quantized)
    ]


def llama_name(kind: str) -> str:
    """What the tables call llama.cpp with a file of ``kind``."""
    return f"llama.cpp, {kind}"


@contextmanager
def programs(
    options: argparse.Namespace, path: Path, folder: Path, threads: int
) -> Iterator[dict[str, Worker]]:
    """All that take part, by name: the stock model first, which the others are compared with."""
    with ExitStack() as stack:
        found: dict[str, Worker] = {}

        def take(name: str, worker: Worker) -> None:
            found[name] = worker
            stack.callback(worker.close)
            # One after the other: while it loads, ours finds out which linear layers are faster.
            worker.ask(op="prefill", rows=1, repeats=1)

        stock = (str(path), options.dtype, "cpu", str(threads))
        take(STOCK, Worker("scripts.bench.peers.stock", *stock))
        for name in (MINE[one] for one in options.programs if one != STOCK):
            load = json.dumps({**_OPTIONS[name], "threads": threads})
            ours = ("scripts.bench.step.runner", str(path), options.dtype, load)
            take(name, Worker(*ours, environ=_as_server()))
        if options.other:
            name = other_name(options.other)
            take(name, other_worker(options.other, path, options.dtype, threads))
        for kind in options.llama_types if options.llama_python else ():
            take(llama_name(kind), _llama(options, kind, path, folder, threads))
        yield found


def _as_server() -> dict[str, str]:
    """The environment in which a server imports torch: its threads sleep soon."""
    environment = dict(os.environ)
    prepare_openmp(environment)
    return environment


def _llama(
    options: argparse.Namespace, kind: str, path: Path, folder: Path, threads: int
) -> Worker:
    """llama.cpp with the same model in a GGUF file of ``kind``."""
    python = options.llama_python
    if kind in _WRITTEN:
        file = _made(folder / f"{path.name}-{kind}.gguf", python, "gguf_file", path, kind)
    else:
        source = _made(folder / f"{path.name}-f16.gguf", python, "gguf_file", path, "f16")
        file = _made(folder / f"{path.name}-{kind}.gguf", python, "gguf_quantized", source, kind)
    numbers = (threads, options.contexts[0], max(options.sessions))
    arguments = (str(file), *map(str, numbers), options.pages)
    return Worker("scripts.bench.peers.llama", *arguments, python=python)


def _made(file: Path, python: str, module: str, source: Path, kind: str) -> Path:
    """``file``, which a module of the peers' makes of ``source`` the first time."""
    if not file.exists():
        partial = file.with_suffix(".partial")
        command = [python, "-m", f"scripts.bench.peers.{module}", source, partial, kind]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{file.name} cannot be made:\n{done.stderr[-2000:]}")
        partial.rename(file)
    return file
