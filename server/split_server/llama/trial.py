"""A file tried by a process that may die: ``python -m split_server.llama.trial FILE OPTIONS``.

A library that was built with faults of its compiler, or for another processor, ends whatever
process computes with it, by a signal that nobody can catch. ``OPTIONS``: JSON of what
``ContextOptions`` takes. Nothing is printed; the exit status is 0 when passes of a row, of a few
and of many went through.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from split_server.errors import EngineUnusable
from split_server.llama.context import Context, ContextOptions, Part
from split_server.llama.library import open_library

# A pass of a model that is read from a slow disk takes minutes.
_SECONDS = 1800
_CELLS = 512


def tried(path: Path, options: ContextOptions) -> ContextOptions:
    """``options`` with which ``path`` can be computed: the given ones, or without matrices in other
    orders, whose kernels are what compilers get wrong. Raises EngineUnusable.
    """
    code = _code(path, options)
    if code and options.reordered:
        options = replace(options, reordered=False)
        code = _code(path, options)
    if code < 0:
        raise EngineUnusable(
            f"llama-cpp-python ended its process ({signal.Signals(-code).name}) in a pass of "
            f"{path.name}: it was built wrongly, or for another processor; build it again with "
            "CMAKE_ARGS=-DGGML_NATIVE=off pip install --force-reinstall --no-binary "
            "llama-cpp-python llama-cpp-python"
        )
    # What went wrong in words is found again by whoever opens the file.
    return options


def _code(path: Path, options: ContextOptions) -> int:
    command = [sys.executable, "-P", "-m", "split_server.llama.trial", str(path)]
    document = json.dumps(asdict(replace(options, cells=_CELLS, sequences=2)))
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and module
            [*command, document],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineUnusable(f"a pass of {path.name} takes more than {_SECONDS} s") from error
    return done.returncode


def main() -> None:
    """Load the file and run passes."""
    path, options = Path(sys.argv[1]), ContextOptions(**json.loads(sys.argv[2]))
    context = Context(open_library(), path, options)
    rows = np.random.default_rng(0).standard_normal((options.rows, context.width), np.float32)
    start = 0
    for count in (1, 4, options.rows):
        context.run([Part(0, start, rows[:count])])
        start += count
    context.remove(0, 0)
    context.close()


if __name__ == "__main__":
    main()
