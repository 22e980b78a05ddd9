"""The LM heads that are compared, opened as a client opens them, and what each holds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from scripts.bench.lm_head.inputs import Inputs
from scripts.bench.report import private_bytes
from scripts.paths import ROOT
from split_client.generation.head.compact.file import PLANE_FILE
from split_client.generation.head.compact.head import CompactLMHead
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.head import LMHead
from split_client.generation.head.screen.file import FILE_NAME as SCREEN_FILE
from split_client.generation.head.spec import HeadSpec

# "compact, numpy" is what a machine without onnxruntime gets.
KINDS = ("exact", "compact", "compact, numpy", "full")


def open_head(kind: str, folder: Path, inputs: Inputs, threads: int) -> LMHead:
    rows = inputs.open(folder)
    if kind == "compact, numpy":
        with _without_onnxruntime():
            return CompactLMHead.open(rows, HeadSpec(), plane_path=folder / PLANE_FILE)
    if kind == "compact":
        path = folder / PLANE_FILE
        return CompactLMHead.open(rows, HeadSpec(), plane_path=path, threads=threads)
    screen = folder / SCREEN_FILE if kind == "exact" else None
    return ExactLMHead.open(rows, HeadSpec(), screen_path=screen, threads=threads)


@contextmanager
def _without_onnxruntime() -> Iterator[None]:
    there = sys.modules.get("onnxruntime")
    sys.modules["onnxruntime"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["onnxruntime"]
        if there is not None:
            sys.modules["onnxruntime"] = there


@dataclass(frozen=True, slots=True)
class Held:
    """RssAnon in bytes of a fresh process before and after it opened a head and used it."""

    before: int
    after: int
    opened_s: float


def held(kind: str, folder: Path, inputs: Inputs, threads: int) -> Held:
    """The memory that a process of its own holds for the head ``kind`` of ``folder``."""
    asked = {"kind": kind, "folder": str(folder), "inputs": asdict(inputs), "threads": threads}
    done = subprocess.run(
        [sys.executable, "-m", "scripts.bench.lm_head.kinds", json.dumps(asked)],
        check=True,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    return Held(**json.loads(done.stdout))


def _hold(kind: str, folder: str, inputs: dict[str, object], threads: int) -> Held:
    shape = Inputs(**inputs)  # type: ignore[arg-type]
    before, start = private_bytes(), time.perf_counter()
    head = open_head(kind, Path(folder), shape, threads)
    opened = time.perf_counter() - start
    for state in shape.states(head.rows, 20):
        head.top(state, 50)
    return Held(before, private_bytes(), opened)


if __name__ == "__main__":
    print(json.dumps(asdict(_hold(**json.loads(sys.argv[1])))))
