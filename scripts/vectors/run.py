"""Write the test vectors that every implementation shares: tests/vectors/KIND.json.

    python -m scripts.vectors.run KIND...

The same code gives the same bytes on every machine.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from scripts.paths import ROOT
from scripts.vectors import (
    blocks,
    brightness,
    context,
    edits,
    forms,
    he,
    noise,
    redaction,
    sampling,
)
from scripts.vectors.decoding import build as decoding
from scripts.vectors.drafts import build as drafts
from scripts.vectors.wire import build as wire

FOLDER = ROOT / "tests" / "vectors"
KINDS = {
    "blocks": blocks.build,
    "brightness": brightness.build,
    "context": context.build,
    "decoding": decoding.build,
    "drafts": drafts.build,
    "edits": edits.build,
    "forms": forms.build,
    "he": he.build,
    "noise": noise.build,
    "redaction": redaction.build,
    "sampling": sampling.build,
    "wire": wire.build,
}


def build(kind: str) -> dict[str, Any]:
    """The vectors of ``kind``."""
    return KINDS[kind]()


def render(vectors: dict[str, Any]) -> str:
    """The text of the file."""
    return json.dumps(vectors, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the shared test vectors.")
    parser.add_argument("kind", nargs="+", choices=KINDS)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for kind in parser.parse_args().kind:
        path = FOLDER / f"{kind}.json"
        path.write_text(render(build(kind)), encoding="ascii")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
