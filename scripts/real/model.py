"""The real model's folder: the one that ``scripts/demo --model smollm2`` makes and serves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from scripts.demonstration.run import FOLDER
from scripts.demonstration.smollm2 import made
from scripts.paths import ROOT

NAME = "SmolLM2-135M-Instruct"


def real_model(tell: Callable[[str], None] | None = None) -> Path:
    """SmolLM2-135M-Instruct as a checkpoint's folder in bfloat16, fetched (93 MB) and imported the
    first time, and again when the importer has changed; processes that want it at once wait for
    the one that makes it.

    ``tell`` gets a line of what goes on, None: stderr. Raises ModelFailed, KeyboardInterrupt.
    """
    return made(ROOT / FOLDER, Path(sys.executable).parent, tell or _tell, current=True)


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
