"""Hostile messages against a live adapter host: does it stay up, quick, and of one size?

A real ``split-server adapters`` in its own process. Between the hostile messages an honest device
asks on and must be answered. The run fails on a wrong or missing code, an answer slower than a
second, a host that ends, or memory that grows.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from scripts.bench.he_hostile.attacker import Attacker, Tally
from scripts.bench.report import heading, table

_ROUND = 500
_SLOW_SECONDS = 1.0
_GROWTH = 16 << 20


def main() -> None:
    options = _options()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "host.log"
        with _hosting(log, options) as (process, url):
            attacker = Attacker(url, options.adapter, options.seed, tally)
            sizes = _attacked(process, attacker, options.messages)
            attacker.close()
        lost = log.read_text().count("was lost")
        faults = re.findall(r"Traceback| ERROR ", log.read_text())
    _report(tally, sizes, lost, len(faults))


def _attacked(process: psutil.Process, attacker: Attacker, messages: int) -> list[int]:
    """Send everything; private bytes of the host's process tree after each round."""
    sizes, sent = [], 0
    while sent < messages:
        count = min(_ROUND, messages - sent)
        attacker.send(count)
        attacker.honest()
        sent += count
        sizes.append(_private_bytes(process))
        print(f"\r{sent} of {messages} messages", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return sizes


def _private_bytes(process: psutil.Process) -> int:
    tree = [process, *process.children(recursive=True)]
    return sum(member.memory_full_info().uss for member in tree)


@contextmanager
def _hosting(log: Path, options: argparse.Namespace) -> Iterator[tuple[psutil.Process, str]]:
    command = [str(Path(sys.executable).parent / "split-server"), "adapters", "--port", "0"]
    command += ["--workers", str(options.workers)]
    command += ["--adapters", options.adapters] if options.adapters else []
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
    try:
        assert process.stdout is not None
        found = next(
            (m for line in process.stdout if (m := re.match(r"listening on (\S+)", line))), None
        )
        if found is None:
            raise SystemExit(f"the host did not start: {log.read_text()}")
        yield psutil.Process(process.pid), found[1]
    finally:
        process.terminate()
        status = process.wait(timeout=60)
    if status:
        raise SystemExit(f"the host ended with status {status}")


def _report(tally: Tally, sizes: list[int], lost: int, faults: int) -> None:
    print(heading(f"{tally.sent} hostile messages to an adapter host", "CKKS"))
    rows = [
        [kind, code, count, f"{1e3 * tally.slowest[kind]:.0f}"]
        for (kind, code), count in sorted(tally.codes.items())
    ]
    print(table(["kind", "answer", "count", "slowest of the kind, ms"], rows))
    settled = sizes[len(sizes) // 5]
    grown = sizes[-1] - settled
    slowest = max(tally.slowest.values())
    print(
        f"Slowest answer {1e3 * slowest:.0f} ms; workers lost: {lost}; "
        f"errors in the log: {faults}; "
        f"private memory {settled / 1e6:.1f} MB after a fifth, {sizes[-1] / 1e6:.1f} MB at the end."
    )
    for fault in tally.faults[:20]:
        print(f"fault: {fault}")
    if tally.faults or lost or faults or slowest > _SLOW_SECONDS or grown > _GROWTH:
        raise SystemExit("the host did not stand it")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--adapters", help="folder of adapters; default: the embedded model's")
    parser.add_argument("--adapter", default="banking")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    begun = time.monotonic()
    main()
    print(f"Took {time.monotonic() - begun:.0f} s.")
