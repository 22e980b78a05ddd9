"""Everything that docs/real-model.md says, measured on SmolLM2-135M-Instruct.

    python -m scripts.real [--seed N] [--only ROW,...] [--out FILE]

The model is fetched the first time (93 MB). All rows take about a quarter of an hour on two cores
with nothing else running. Each row checks itself against an oracle first and ends the program where
that disagrees. The tables between the markers of FILE are replaced; its prose stays.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import textwrap
import time
from pathlib import Path

from scripts.bench.report import commit, surroundings
from scripts.paths import ROOT
from scripts.real.document import write
from scripts.real.model import NAME, real_model
from scripts.real.rows import ROWS
from scripts.real.setting import Setting, forget, setting


def main() -> None:
    options = _options()
    # Before the page is written: a run that begins clean is one of its commit.
    of = commit()
    with setting(real_model(), options.seed) as one:
        for name in options.only:
            _write(options.out, name, _block(one, name, of))
    _write(options.out, "machine", _machine(options.seed, of))


def _block(one: Setting, name: str, of: str) -> str:
    """The table of a row, with when and of which commit."""
    print(f"{name}:", file=sys.stderr, flush=True)
    begin = time.monotonic()
    found = ROWS[name](one).markdown()
    forget()
    seconds = time.monotonic() - begin
    date = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, commit {of}, {seconds:.0f} s"
    command = f"`python -m scripts.real --only {name}`"
    line, rest = found.split("\n\n", 1)
    return f"{_wrapped(f'{command}, {date}. {line}')}\n\n{rest}"


def _machine(seed: int, of: str) -> str:
    """The newest run: machine and versions."""
    line = surroundings("float32 and bfloat16", of)
    return _wrapped(f"{NAME} (Q4_1 GGUF, imported as bfloat16), seed {seed}; newest run: {line}")


def _wrapped(text: str) -> str:
    """In the width that the pages have."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _write(path: Path, name: str, block: str) -> None:
    print(f"\n{block}\n", flush=True)
    # Row by row, so that what was measured before a fault is kept.
    write(path, {name: block})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=_names, default=list(ROWS), metavar="ROW,...")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "real-model.md")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in ROWS]:
        raise argparse.ArgumentTypeError(f"{unknown[0]} is not one of {', '.join(ROWS)}")
    return names


if __name__ == "__main__":
    main()
