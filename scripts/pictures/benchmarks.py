"""Draws what scripts.bench.batch.run and scripts.bench.step.run saved, as SVG.

python -m scripts.pictures.benchmarks throughput BATCH.json [BATCH.json ...] PICTURE.svg
python -m scripts.pictures.benchmarks step STEP.json PICTURE.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scripts.bench import plots


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", choices=["throughput", "step"])
    parser.add_argument("saved", type=Path, nargs="+")
    parser.add_argument("target", type=Path)
    options = parser.parse_args()
    saved = [json.loads(path.read_text()) for path in options.saved]
    if options.picture == "throughput":
        plots.throughput(saved, options.target)
    else:
        # A run for each number of threads; the picture is of the last.
        plots.step_time(saved[0][-1], options.target)


if __name__ == "__main__":
    main()
