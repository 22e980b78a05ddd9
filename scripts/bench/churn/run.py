"""Hundreds of sessions that come, chat, change their mind, lose their connection and go.

A real split-server and a few processes of users that speak the wire protocol. Reports the server's
private memory over time, the cause of every failed step, and what users wait for. A share of the
replies is verified against the stock model in float32. Exit status 1: a failure without a named
cause, a wrong reply, memory that grows, or cache that is not given back.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scripts.bench.churn.plot import plot
from scripts.bench.churn.tally import Tally
from scripts.bench.logged_server import LoggedServer, flags, logged_server
from scripts.bench.process_memory import MB, MemoryWatch, Sample, slope
from scripts.bench.report import finish, heading, table
from scripts.bench.shapes import SHAPES, served_checkpoint
from scripts.bench.workers import Worker

_MOST_GROWTH = 1.0  # MB per minute
# Two logits that differ by less than this many of their deviations are a tie that the order of
# summation decides.
_TIE = 1e-5
_PERCENTILES = (50, 95, 99)


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = Path(options.folder or stack.enter_context(tempfile.TemporaryDirectory()))
        model = served_checkpoint(options.shape, folder, "float32")
        server = stack.enter_context(logged_server(folder / "server.log", *_flags(options, model)))
        workers = [_client(stack, server, folder) for _ in range(options.clients)]
        watch = MemoryWatch(server.process.pid, server.cache_bytes, options.period)
        tally = _churn(workers, options)
        samples = watch.stop()
        memory, faults = server.memory(), server.faults()
    verdicts = _verified(model, tally, options.most_checked)
    lasted = [s for s in samples if s.seconds <= 60 * options.minutes]
    growth = _growth(lasted, 60 * options.settled)
    if options.plot and not plot(lasted, 60 * options.settled, growth, options.plot):
        print("no plot: matplotlib is not installed", file=sys.stderr)
    _report(options, tally, samples, growth, memory, verdicts)
    finish(_problems(tally, faults, growth, memory, verdicts))


def _flags(options: argparse.Namespace, model: Path) -> list[str]:
    # A socket more than sessions: one that was cut may be open until the server notices.
    limits = {
        "max-sessions": options.sessions,
        "max-sessions-per-principal": options.sessions,
        "max-queued-steps": 2 * options.sessions,
        "max-sockets": 2 * options.sessions,
        "session-ttl": 60,
    }
    return ["--model", str(model), "--dtype", "float32", *flags(limits), *options.server]


def _client(stack: contextlib.ExitStack, server: LoggedServer, folder: Path) -> Worker:
    worker = Worker("scripts.bench.churn.client")
    stack.callback(worker.close)
    worker.ask(op="open", url=server.url, cache=str(folder / "cache"))
    return worker


def _churn(workers: list[Worker], options: argparse.Namespace) -> Tally:
    """All clients at once; what they counted together."""
    share, rest = divmod(options.users, len(workers))

    def live(number: int) -> dict[str, Any]:
        return workers[number].ask(
            op="churn",
            users=share + (number < rest),
            seconds=60 * options.minutes,
            ramp=min(30.0, 6 * options.minutes),
            seed=f"{options.seed}/{number}",
            habits={"checked": options.checked, "pause": options.pause},
        )

    total = Tally()
    with ThreadPoolExecutor(len(workers)) as pool:
        for document in pool.map(live, range(len(workers))):
            total.add(Tally.of(document))
    return total


def _verified(model: Path, tally: Tally, most: int) -> dict[str, int]:
    """The number of sampled replies that are the stock model's greedy ones, token by token."""
    counts = {"equal": 0, "ties": 0, "wrong": 0}
    peer = Worker("scripts.bench.peers.generate", str(model), "float32")
    try:
        for before, new in tally.samples[:most]:
            short = peer.ask(op="check", ids=before, new=new)["short"]
            counts["equal" if short == 0 else "ties" if short < _TIE else "wrong"] += 1
    finally:
        peer.close()
    return counts


def _growth(samples: list[Sample], settled: float) -> float:
    """MB per minute of private memory once the crowd has settled."""
    late = [sample for sample in samples if sample.seconds >= settled]
    return slope([s.seconds / 60 for s in late], [s.private / MB for s in late])


def _report(
    options: argparse.Namespace,
    tally: Tally,
    samples: list[Sample],
    growth: float,
    memory: dict[str, Any],
    verdicts: dict[str, int],
) -> None:
    print(heading(f"Churn: {options.users} users, {options.minutes:g} minutes", "float32"))
    done = ", ".join(f"{count:,} {name}" for name, count in sorted(tally.done.items()))
    causes = ", ".join(f"{count:,} {code}" for code, count in tally.failures.most_common())
    private = [sample.private / MB for sample in samples]
    caches = memory["caches"]
    rows = [
        ["model", options.shape],
        ["done", done],
        ["failed steps by cause", causes or "none"],
        ["failures without a named cause", len(tally.unnamed)],
        ["replies verified", ", ".join(f"{count} {name}" for name, count in verdicts.items())],
        [
            "private memory: first, largest, last",
            f"{private[0]:.0f}, {max(private):.0f}, {private[-1]:.0f} MB",
        ],
        ["largest of K/V buffers", f"{max(sample.caches for sample in samples) / MB:.0f} MB"],
        [f"growth after minute {options.settled:g}", f"{growth:+.2f} MB per minute"],
        [
            "cache when all sessions are closed",
            f"{caches['reserved'] / MB:.1f} MB in sessions, {caches['idle'] / MB:.1f} MB idle",
        ],
        ["time to first token", _quantiles(tally.ttft)],
        ["time per token", _quantiles(tally.per_token)],
        ["of it in the engine's queue", _quantiles(tally.queue)],
    ]
    print(table(["figure", "value"], rows))


def _quantiles(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    if not ordered:
        return "none"
    at = {share: ordered[(len(ordered) - 1) * share // 100] for share in _PERCENTILES}
    return ", ".join(f"p{share} {1e3 * value:.0f} ms" for share, value in at.items())


def _problems(
    tally: Tally,
    faults: list[str],
    growth: float,
    memory: dict[str, Any],
    verdicts: dict[str, int],
) -> list[str]:
    found = [f"unnamed: {reason}" for reason in sorted(set(tally.unnamed))]
    found += [f"the server's log: {line}" for line in faults]
    if verdicts["wrong"]:
        found.append(f"{verdicts['wrong']} replies are not the model's")
    if not verdicts["equal"]:
        found.append("no reply was verified")
    if growth > _MOST_GROWTH:
        found.append(f"memory grows by {growth:.2f} MB per minute, {_MOST_GROWTH:g} are allowed")
    if memory["caches"]["reserved"]:
        found.append("cache is set aside for sessions that are closed")
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=["embedded", *SHAPES], default="embedded")
    parser.add_argument("--folder", help="keep checkpoint, weights and log here")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument(
        "--settled", type=float, default=2.0, help="minute from which growth counts"
    )
    parser.add_argument("--sessions", type=int, default=200, help="that the server allows")
    parser.add_argument("--users", type=int, default=180)
    parser.add_argument(
        "--clients", type=int, default=2, help="processes the users are spread over"
    )
    parser.add_argument(
        "--pause", type=float, default=2.0, help="seconds between turns, on average"
    )
    parser.add_argument("--checked", type=float, default=0.03, help="share of replies to verify")
    parser.add_argument("--most-checked", type=int, default=400)
    parser.add_argument("--period", type=float, default=2.0, help="seconds between memory samples")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=Path, help="SVG of the memory (needs matplotlib)")
    parser.add_argument("server", nargs="*", help="more flags for the server, after --")
    return parser.parse_args()


if __name__ == "__main__":
    main()
