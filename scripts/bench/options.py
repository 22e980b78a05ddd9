"""Options that every benchmark over a made-up checkpoint has."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from scripts.bench.shapes import SHAPES


def parser(
    description: str, dtypes: Sequence[str] = ("bfloat16", "float32")
) -> argparse.ArgumentParser:
    """A parser with --shape, --dtype and --folder.

    Servers that the benchmark starts keep nothing of one prompt for the next, unless it says so:
    what is measured is computed each time.
    """
    os.environ.setdefault("SPLIT_SERVER_KV_REUSE", "off")
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--shape", choices=SHAPES, default="m")
    made.add_argument("--dtype", choices=dtypes, default="bfloat16")
    made.add_argument("--folder", help="keep the checkpoint here instead of making it again")
    return made


def add_server_option(parser: argparse.ArgumentParser) -> None:
    """--server, once for every flag that is passed on."""
    parser.add_argument(
        "--server", action="append", default=[], help="one more flag for the server: --server=--x=y"
    )


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """--linears, --quantize and --threads of our side."""
    parser.add_argument("--linears", choices=["auto", "packed", "plain"], default="auto")
    parser.add_argument("--quantize", choices=["none", "int8"], default="none")
    parser.add_argument("--threads", type=int, default=0, help="of every side; 0: one per core")
