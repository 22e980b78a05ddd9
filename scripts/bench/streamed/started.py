"""Workers of one setting, in a control group where there is one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts.bench.streamed.group import Group
from scripts.bench.workers import Worker

_OURS = "scripts.bench.streamed.worker"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The checkpoint at ``path``, of which ``streamed`` layers are in a file in ``layers``, with
    matrices as ``quantize`` says; how often is timed.
    """

    path: Path
    layers: Path
    shape: str
    dtype: str
    streamed: int
    threads: int
    rounds: int
    quantize: str = "none"


@contextmanager
def ours(setting: Setting, streamed: int, group: Group | None = None) -> Iterator[Worker]:
    """This engine with so many layers on disk."""
    with started(setting, _OURS, group) as worker:
        folder, threads = str(setting.layers), setting.threads
        worker.ask(
            op="load",
            streamed=streamed,
            folder=folder,
            threads=threads,
            quantize=setting.quantize,
        )
        yield worker


@contextmanager
def started(
    setting: Setting, module: str, group: Group | None, python: str | None = None
) -> Iterator[Worker]:
    """A worker that has loaded nothing yet."""
    worker = Worker(module, str(setting.path), setting.dtype, python=python or sys.executable)
    try:
        if group is not None:
            group.add(worker.pid)
        yield worker
    finally:
        worker.close()


def middle(values: list[float]) -> float:
    """The upper median."""
    return sorted(values)[len(values) // 2]
