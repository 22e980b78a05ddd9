"""Random requests to a server with little memory: does it live, and were its refusals right?

The kernel limits the server's private memory (RLIMIT_DATA). Each refused step is run again in a
process without a limit that holds the same caches, and its memory is measured there. Steps whose
principal still had idle sessions count without them: a server gives those up before it refuses.
With llama.cpp (--engine llama --model FILE.gguf) all caches lie in cells that it has from its
start: there a refusal is right when fewer cells were left than the step wanted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from scripts.bench.report import heading, table
from scripts.bench.shapes import SHAPES, random_checkpoint
from scripts.bench.workers import Worker
from scripts.paths import ROOT

_TOLERANCE = 0.85
_CELLS = 32
# A cache that is large beside its model: few tokens fill the memory, so that a run is short.
_SHAPE = {
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "head_dim": 64,
    "vocab_size": 512,
    "max_position_embeddings": 32_768,
    "tie_word_embeddings": True,
}


def main() -> int:
    """Print what happened; the exit status is 0 when the server lived and refused rightly."""
    options = _options()
    SHAPES["fat"] = _SHAPE
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or str(random_checkpoint("fat", Path(folder), "float32"))
        status, lines = _serve(model, options)
        refusals = [line for line in lines if line.get("error") == "cache_full"]
        if options.engine == "llama":
            measured = _by_cells(lines, refusals, options.limit)
        else:
            measured = _replayed(model, options, refusals)
    result = _result(status, lines, measured, options.limit)
    if options.details:
        for line, peak in zip(refusals, measured, strict=True):
            print(json.dumps(line | {"measured": peak}))
    if options.json:
        print(json.dumps(result))
    else:
        _show(result)
    return 0 if result["died"] == 0 and result["wrong"] == 0 else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--limit", type=int, default=2_000_000_000, help="bytes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=int, default=32_768, help="tokens of a prompt")
    parser.add_argument("--linears", default="auto", help="as of split-server")
    parser.add_argument("--engine", choices=["torch", "llama"], default="torch")
    parser.add_argument("--model", help="another than the one of random weights")
    parser.add_argument("--details", action="store_true", help="print every refusal")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def _serve(model: str, options: argparse.Namespace) -> tuple[int, list[dict[str, Any]]]:
    numbers = (options.limit, options.requests, options.seed, options.longest)
    arguments = [model, *map(str, numbers), options.linears, options.engine]
    ended = subprocess.run(
        [sys.executable, "-m", "scripts.bench.memory_plan.server", *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return ended.returncode, [json.loads(line) for line in ended.stdout.splitlines()]


def _replayed(model: str, options: argparse.Namespace, refusals: list[dict[str, Any]]) -> list[int]:
    worker = Worker("scripts.bench.memory_plan.replay", model, str(options.limit), options.linears)
    try:
        return [worker.ask(**refusal)["peak"] for refusal in refusals]
    finally:
        worker.close()


def _by_cells(lines: list[dict[str, Any]], refusals: list[dict[str, Any]], limit: int) -> list[int]:
    """Of ``limit`` the part of all cells that the sessions would have had with each step."""
    cells = next((line["cells"] for line in lines if "cells" in line), 1)
    wanted = [
        sum(_grouped([*refusal["others"], refusal["start"] + refusal["rows"]]))
        for refusal in refusals
    ]
    return [limit * min(each, cells) // cells for each in wanted]


def _grouped(positions: list[int]) -> list[int]:
    """Cells that sessions of so many positions set aside."""
    return [-(-each // _CELLS) * _CELLS for each in positions]


def _result(
    status: int, lines: list[dict[str, Any]], measured: list[int], limit: int
) -> dict[str, Any]:
    requests = [line for line in lines if "request" in line]
    errors = [line["error"] for line in requests if "error" in line]
    report = next((line["memory"] for line in lines if "memory" in line), {})
    return {
        "requests": len({line["request"] for line in requests}),
        "steps_refused": len(measured),
        "other_errors": sorted(set(errors) - {"cache_full"}),
        "died": int(status != 0),
        "wrong": sum(peak < _TOLERANCE * limit for peak in measured),
        "measured": [round(peak / limit, 3) for peak in sorted(measured)],
        "failed": report.get("failed"),
        "predictions": report.get("predictions"),
    }


def _show(result: dict[str, Any]) -> None:
    print(heading("Memory plan under a limit", "float32"))
    print(table(["", ""], [[name.replace("_", " "), value] for name, value in result.items()]))


if __name__ == "__main__":
    sys.exit(main())
