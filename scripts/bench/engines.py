"""The embedded model behind either engine."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.bench.shapes import EMBEDDED


def add_engine_option(parser: argparse.ArgumentParser) -> None:
    """``--engine``: what computes the layers."""
    parser.add_argument("--engine", choices=["torch", "llama"], default="torch")


def embedded_flags(folder: Path, engine: str) -> list[str]:
    """Flags of a server; for llama.cpp the model is a file that it reads, made in ``folder``."""
    if engine == "torch":
        return ["--model", str(EMBEDDED)]
    # Its packages are an extra.
    from scripts.bench.llama.embedded import embedded_gguf

    return ["--model", str(embedded_gguf(folder)), "--engine", engine]
