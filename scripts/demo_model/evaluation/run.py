"""The measured figures of a checkpoint, for people and as JSON.

python -m scripts.demo_model.evaluation.run --help
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from scripts.demo_model.chat import Chat
from scripts.demo_model.embedded import ADAPTER, EMBEDDED
from scripts.demo_model.evaluation.adapter import measure
from scripts.demo_model.evaluation.cases import blind_cases, held_out_cases, task_cases
from scripts.demo_model.evaluation.score import Score, score
from scripts.demo_model.training.adapter import load_adapter


def _show(name: str, result: Score, mistakes: bool) -> None:
    print(f"{name}: {result.right}/{result.total} = {100 * result.share:.1f}%")
    for group, (right, total) in sorted(result.groups.items()):
        print(f"    {group:24} {right}/{total}")
    for question, reply in result.mistakes if mistakes else []:
        print(f"    ? {question}\n    ! {reply}")


def main(argv: Sequence[str] | None = None) -> int:
    """Evaluate and print; always returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=EMBEDDED)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument("--mistakes", action="store_true", help="show wrong held-out answers")
    parser.add_argument("--adapter", action="store_true", help="measure the banking adapter")
    parser.add_argument(
        "--quantize", choices=("none", "int8"), default="none", help="as split-server would"
    )
    args = parser.parse_args(argv)
    torch.set_num_threads(args.threads)
    chat = Chat(args.model, quantize=args.quantize)
    if args.adapter:
        print(json.dumps(measure(chat, load_adapter(args.model / ADAPTER)), indent=2))
        return 0
    groups = {"held-out": held_out_cases(), "blind": blind_cases(), "tasks": task_cases()}
    results = {name: score(chat, cases) for name, cases in groups.items()}
    if args.json:
        print(json.dumps({name: result.as_json() for name, result in results.items()}, indent=2))
        return 0
    for name, result in results.items():
        _show(name, result, args.mistakes and name != "blind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
