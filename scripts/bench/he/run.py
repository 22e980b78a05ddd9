"""Encrypted adapters: what a token costs the device, the adapter host and the line.

    python -m scripts.bench.he.run [--shapes 192x16 1536x32 ...] [--rounds 31] [--peer-rounds 2]
        [--json FILE] [--plot FILE.svg]

For each hidden size x rank: coefficient packing as split_he does it, stage by stage, beside
tenseal's ckks_vector.mm and slot packing without rotations in the same run. Answers are compared
with float64 first; a wrong one ends the run. Times are medians of processor time of this process,
one thread; making blinds happens in idle time and is listed on its own. A peer is not run where a
hidden state does not fit its slots.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
from scripts.bench.he import coefficients, mm
from scripts.bench.he.inputs import Problem, Progress
from scripts.bench.he.report import PEERS, Run, report, saved
from scripts.bench.report import heading

SHAPES = ["192x16", "896x16", "1536x32", "4096x32", "8192x64"]


def shape(text: str) -> tuple[int, int]:
    """Hidden size and rank of ``HxR``."""
    hidden, _, rank = text.partition("x")
    if not (hidden.isdigit() and rank.isdigit() and int(hidden) <= 8192 and int(rank) <= 64):
        raise argparse.ArgumentTypeError(f"{text!r} is not HIDDENxRANK up to 8192x64")
    return int(hidden), int(rank)


def measure(problem: Problem, options: argparse.Namespace, progress: Progress) -> Run:
    """All schemes on one problem; None for a peer that does not run."""
    run: Run = {coefficients.NAME: coefficients.measure(problem, options.rounds, progress)}
    for peer in PEERS:
        wanted = options.peer_rounds > 0 and peer.runs(problem)
        run[peer.NAME] = peer.measure(problem, options.peer_rounds, progress) if wanted else None
        if not wanted:
            progress.step(peer.NAME, options.peer_rounds)
    return run


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", type=shape, default=[shape(s) for s in SHAPES])
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--peer-rounds", type=int, default=2, help="0: without peers")
    parser.add_argument("--json", type=Path, help="save every round")
    parser.add_argument("--plot", type=Path, help="draw an SVG (needs matplotlib)")
    options = parser.parse_args()
    if options.rounds < 1 or options.peer_rounds < 0:
        parser.error("--rounds is at least 1, --peer-rounds at least 0")
    return options


def main() -> None:
    options = parse()
    steps = options.rounds + len(PEERS) * options.peer_rounds
    progress = Progress(len(options.shapes) * steps)
    runs: dict[str, Run] = {}
    for hidden, rank in options.shapes:
        runs[f"{hidden}x{rank}"] = measure(Problem.random(hidden, rank), options, progress)
    progress.close()
    print(heading("Encrypted adapters", "float32 adapters"))
    print(
        f"Medians of {options.rounds} rounds ({options.peer_rounds} of the peers), processor time "
        f"of one thread. ckks_vector.mm: degree {mm.DEGREE}, primes {mm.BITS}, scale 2^30.\n"
    )
    print(report(runs))
    if options.json:
        options.json.write_text(json.dumps(saved(runs), indent=1))
    if options.plot:
        from scripts.bench.he.plot import plot

        plot(runs, options.plot)


if __name__ == "__main__":
    main()
