"""Clients of every kind at once, a third of whose replies are left in the middle.

A real split-server; OpenAI's chat and Kobold's events over HTTP, Kobold's binary socket with all
attention, and device clients over split.v1; beside them a text is tokenized every 100 ms. Finished
greedy replies are compared with those that the same client got alone. Exit status 1: a failure
without a named cause, a stall, another reply, or something that is left on the server.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scripts.bench.clients.probe import TokenizeProbe
from scripts.bench.clients.prompts import KINDS, Kind, chats
from scripts.bench.clients.report import Bars, Mixed, by_kind, figures, problems
from scripts.bench.clients.tally import Tally, together
from scripts.bench.logged_server import LoggedServer, flags, logged_server, server_folder
from scripts.bench.options import add_server_option
from scripts.bench.process_memory import MemoryWatch
from scripts.bench.report import finish, heading
from scripts.bench.rest import rest_of
from scripts.bench.shapes import SHAPES, served_checkpoint
from scripts.bench.workers import Worker

# Twice what one machine of users could have open at a time.
_SESSIONS = 256
_SETTLE_SECONDS = 30.0


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        model = served_checkpoint(options.shape, folder, options.dtype)
        server = stack.enter_context(logged_server(folder / "server.log", *_flags(options, model)))
        mixed = _mixed(server, _workers(stack, server, folder, options), options)
    total = together(mixed.tallies.values())
    _report(options, mixed, total)
    finish(problems(mixed, total, _bars(options)))


def _flags(options: argparse.Namespace, model: Path) -> list[str]:
    limits = {
        "max-sessions": _SESSIONS,
        "max-sessions-per-principal": _SESSIONS,
        "session-ttl": options.session_ttl,
    }
    return ["--model", str(model), "--dtype", options.dtype, *flags(limits), *options.server]


def _workers(
    stack: contextlib.ExitStack, server: LoggedServer, folder: Path, options: argparse.Namespace
) -> list[Worker]:
    """Clients that bring their text in one process, device clients, who compute, in another."""
    kinds: list[Kind] = [KINDS[number % len(KINDS)] for number in range(options.clients)]
    workers = []
    for own in ([k for k in kinds if k != "split"], [k for k in kinds if k == "split"]):
        worker = Worker("scripts.bench.clients.worker")
        stack.callback(worker.close)
        seed = f"{options.seed}/{len(workers)}"
        worker.ask(op="open", url=server.url, cache=str(folder / "cache"), kinds=own, seed=seed)
        workers.append(worker)
    return workers


def _mixed(server: LoggedServer, workers: list[Worker], options: argparse.Namespace) -> Mixed:
    """Every reply alone, all clients at once, and what is left when they are gone."""
    asked: dict[str, Any] = {"chats": chats(options.prompts, options.seed)}
    asked["ids"] = workers[-1].ask(op="ids", **asked)["ids"]
    alone: dict[str, list[str]] = {}
    for worker in workers:
        alone |= worker.ask(op="alone", tokens=options.tokens, **asked)
    watch = MemoryWatch(server.process.pid, server.cache_bytes, options.period)
    probe = TokenizeProbe(server.url, options.tokenize_period)
    try:
        tallies = _lived(workers, asked, options)
    finally:
        probed, samples = probe.stop(), watch.stop()
    for worker in workers:
        worker.ask(op="close")
    rest, settled = rest_of(server, _SETTLE_SECONDS, options.session_ttl), 60 * options.settled
    return Mixed(tallies, probed, samples, settled, rest, server.faults(), _unlike(alone))


def _lived(
    workers: Sequence[Worker], asked: dict[str, Any], options: argparse.Namespace
) -> dict[str, Tally]:
    habits = {
        "max_tokens": options.tokens,
        "dropping": options.dropping,
        "pause": options.pause,
    }

    def mix(number: int) -> dict[str, Any]:
        return workers[number].ask(
            op="mix",
            seconds=60 * options.minutes,
            seed=f"{options.seed}/{number}",
            habits=habits,
            **asked,
        )

    found: dict[str, Tally] = {}
    with ThreadPoolExecutor(len(workers)) as pool:
        for documents in pool.map(mix, range(len(workers))):
            found |= {kind: Tally.of(document) for kind, document in documents.items()}
    return found


def _unlike(alone: dict[str, list[str]]) -> list[str]:
    """Prompts whose reply depends on who asks."""
    first = KINDS[0]
    return [
        f"prompt {number}: {kind} and {first}"
        for kind, replies in alone.items()
        for number, (reply, expected) in enumerate(zip(replies, alone[first], strict=True))
        if reply != expected
    ]


def _bars(options: argparse.Namespace) -> Bars:
    # In bfloat16 the rounding of a batch decides between tokens that are close.
    compared = options.dtype == "float32"
    return Bars(options.stall, options.tokenize_bar, options.growth, compared)


def _report(options: argparse.Namespace, mixed: Mixed, total: Tally) -> None:
    title = f"{options.clients} mixed clients, {options.minutes:g} minutes, shape {options.shape}"
    print(heading(title, options.dtype))
    print(
        f"{total.asked:,} replies of at most {options.tokens} tokens were asked for, "
        f"{total.pieces:,} events with text came; {options.prompts} different chats, "
        f"{total.broken / max(total.asked, 1):.0%} left in the middle.\n"
    )
    print(by_kind(mixed.tallies))
    print(figures(mixed, total))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=["embedded", *SHAPES], default="embedded")
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="float32")
    parser.add_argument("--folder", help="keep checkpoint, weights and log here")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument(
        "--settled", type=float, default=2.0, help="minute from which growth of memory counts"
    )
    parser.add_argument("--clients", type=int, default=16, help="at least one of each kind")
    parser.add_argument("--prompts", type=int, default=12, help="different chats")
    parser.add_argument("--tokens", type=int, default=96, help="of a reply, at most")
    parser.add_argument("--dropping", type=float, default=1 / 3, help="share left in the middle")
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between two replies")
    parser.add_argument("--session-ttl", type=float, default=20.0)
    parser.add_argument("--tokenize-period", type=float, default=0.1, help="seconds")
    parser.add_argument("--tokenize-bar", type=float, default=50.0, help="p99 in milliseconds")
    parser.add_argument("--stall", type=float, default=10.0, help="seconds of silence that fail")
    parser.add_argument("--growth", type=float, default=1.0, help="MB per minute that are allowed")
    parser.add_argument("--period", type=float, default=10.0, help="seconds between memory samples")
    parser.add_argument("--seed", type=int, default=0)
    add_server_option(parser)
    options = parser.parse_args()
    if options.clients < len(KINDS):
        parser.error(f"at least {len(KINDS)} clients")
    return options


if __name__ == "__main__":
    main()
