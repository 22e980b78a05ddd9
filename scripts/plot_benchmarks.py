"""Draws what bench_batch.py and bench_step.py saved, as SVG.

python scripts/plot_benchmarks.py throughput BATCH.json [BATCH.json ...] PICTURE.svg
python scripts/plot_benchmarks.py step STEP.json PICTURE.svg
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bench import plots


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
        plots.step_time(saved[0], options.target)


if __name__ == "__main__":
    main()
