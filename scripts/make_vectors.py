"""Write the test vectors that every implementation shares: tests/vectors/KIND.json.

    python scripts/make_vectors.py KIND...

A kind is a module of scripts/vectors (its name without a leading underscore) with
``build() -> dict``; the same code gives the same bytes on every machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "vectors"


def kinds() -> list[str]:
    """The kinds that can be built."""
    modules = (ROOT / "scripts" / "vectors").glob("[!_]*.py")
    return sorted(module.stem for module in modules)


def build(kind: str) -> dict[str, Any]:
    """The vectors of ``kind``."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    vectors: dict[str, Any] = import_module(f"scripts.vectors.{kind}").build()
    return vectors


def render(vectors: dict[str, Any]) -> str:
    """The text of the file."""
    return json.dumps(vectors, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the shared test vectors.")
    parser.add_argument("kind", nargs="+", choices=kinds())
    FOLDER.mkdir(parents=True, exist_ok=True)
    for kind in parser.parse_args().kind:
        path = FOLDER / f"{kind}.json"
        path.write_text(render(build(kind)), encoding="ascii")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
