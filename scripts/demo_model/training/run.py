"""Command line of the demo model's making: ``python -m scripts.demo_model.training.run --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.demo_model.embedded import ADAPTER, EMBEDDED
from scripts.demo_model.training.loop import TrainConfig
from scripts.demo_model.training.pipeline import train_banking, train_base


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Make the embedded model and its adapter.")
    parser.add_argument("--out", type=Path, default=EMBEDDED, help="folder of the checkpoint")
    parser.add_argument("--seed", type=int, default=TrainConfig.seed)
    parser.add_argument("--tokens", type=int, default=TrainConfig.tokens, help="corpus tokens")
    parser.add_argument("--max-steps", type=int, help="stop after so many steps")
    parser.add_argument(
        "--only", choices=("base", "adapter"), help="train one of the two; default: both"
    )
    parser.add_argument("--threads", type=int, default=TrainConfig.threads)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts that were asked for; returns the exit status."""
    args = _parser().parse_args(argv)
    config = TrainConfig(
        seed=args.seed, tokens=args.tokens, max_steps=args.max_steps, threads=args.threads
    )
    if args.only != "adapter":
        train_base(config, args.out, _log)
    if args.only != "base":
        train_banking(args.out, args.out / ADAPTER, config, _log)
    return 0


if __name__ == "__main__":
    sys.exit(main())
