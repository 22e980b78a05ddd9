"""Clients that chat, drop, reconnect, fall back, edit and leave, while their server is killed.

A real split-server in float32, in torch or (--engine) in llama.cpp, several processes of device
clients, each behind a hop that cuts, slows and silences connections; slow readers and half-open
sockets beside them. The server is killed (SIGKILL) and started again on the same port, once with
little memory and once with a full disk. Every reply is compared with the one that the same client
gets alone, greedy ones with Hugging Face `generate`. Exit status 1: another reply, a failure
without a named cause, a session or socket that is left, or memory that grows.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.bench.engines import add_engine_option, embedded_flags
from scripts.bench.logged_server import flags, logged_server, server_folder
from scripts.bench.options import add_server_option
from scripts.bench.report import finish
from scripts.bench.rest import rest_of
from scripts.bench.shapes import EMBEDDED
from scripts.bench.soak.disk import SmallDisk, small_disk
from scripts.bench.soak.oracle import compared
from scripts.bench.soak.report import Soak, problems, report
from scripts.bench.soak.servers import Servers
from scripts.bench.soak.stages import FullDisk, kills
from scripts.bench.soak.tally import SoakTally, together
from scripts.bench.workers import Worker

_SETTLE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Crowd:
    """``rude``: None without bad peers."""

    clients: list[Worker]
    rude: Worker | None


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        disk = stack.enter_context(small_disk(folder / "disk"))
        soak = _soaked(stack, folder, disk, options)
        alone = stack.enter_context(logged_server(folder / "alone.log", *_model(folder, options)))
        soak.verdict = compared(soak.tally, alone.url, folder / "cache", EMBEDDED)
    report(soak, options.clients, options.minutes)
    finish(problems(soak, options.growth))


def _soaked(
    stack: contextlib.ExitStack,
    folder: Path,
    disk: SmallDisk | None,
    options: argparse.Namespace,
) -> Soak:
    flags = [*_model(folder, options), *_flags(options)]
    servers = Servers(folder, flags, options.period)
    stack.callback(servers.give_up)
    servers.start("as usual")
    crowd = _crowd(stack, servers.url, folder, options)
    full = FullDisk(folder, disk)
    begun = time.monotonic()
    with ThreadPoolExecutor(len(crowd.clients) + 1) as pool:
        rude = pool.submit(_rude, crowd, servers.url, options)
        living = [pool.submit(_live, worker, options) for worker in crowd.clients]
        if options.kills:
            seconds = 60 * options.minutes
            kills(servers, full, begun, seconds, options.kills, options.engine)
        tallies = [SoakTally.of(one.result()) for one in living]
        peers = rude.result()
    servers.look_back()
    for worker in crowd.clients:
        worker.ask(op="leave")
    rest = rest_of(servers.now, _SETTLE_SECONDS, options.session_ttl)
    sessions = servers.now.gauge("split_sessions")
    servers.end()
    tally = together([*tallies, full.tally])
    return Soak(tally, servers.lives, peers, full.refusals, rest, sessions, 60 * options.settled)


def _model(folder: Path, options: argparse.Namespace) -> list[str]:
    return [*embedded_flags(folder, options.engine), "--dtype", "float32"]


def _flags(options: argparse.Namespace) -> list[str]:
    # Sessions and sockets that nobody uses any more stay until the server notices.
    limits = {
        "max-sessions": 3 * options.clients + 16,
        "max-sessions-per-principal": 3 * options.clients + 16,
        "max-queued-steps": 2 * options.clients + 16,
        "max-sockets": 1024,
        "session-ttl": options.session_ttl,
    }
    return [*flags(limits), *options.server]


def _crowd(
    stack: contextlib.ExitStack, url: str, folder: Path, options: argparse.Namespace
) -> Crowd:
    share, more = divmod(options.clients, options.processes)
    clients = []
    for number in range(options.processes):
        worker = Worker("scripts.bench.soak.worker")
        stack.callback(worker.close)
        own = {"cache": str(folder / "cache"), "seed": f"{options.seed}/{number}"}
        worker.ask(op="open", url=url, clients=share + (number < more), **own)
        clients.append(worker)
    if not options.rude:
        return Crowd(clients, None)
    rude = Worker("scripts.bench.soak.rude")
    stack.callback(rude.close)
    return Crowd(clients, rude)


def _live(worker: Worker, options: argparse.Namespace) -> dict[str, Any]:
    return worker.ask(op="live", seconds=60 * options.minutes, pause=options.pause)


def _rude(crowd: Crowd, url: str, options: argparse.Namespace) -> dict[str, Any]:
    if crowd.rude is None:
        return {"done": {}, "put_up_with": 0.0}
    return crowd.rude.ask(url=url, seconds=60 * options.minutes, each=options.rude)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", help="keep weights and logs here")
    add_engine_option(parser)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--processes", type=int, default=3, help="the clients are spread over")
    parser.add_argument("--rude", type=int, default=2, help="bad peers of each kind")
    parser.add_argument("--kills", type=int, default=4, help="in the first 60%% of the time")
    parser.add_argument("--no-kills", dest="kills", action="store_const", const=0)
    parser.add_argument(
        "--settled", type=float, default=2.0, help="minute of a life from which growth counts"
    )
    parser.add_argument("--growth", type=float, default=1.0, help="MB per minute that are allowed")
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between turns")
    parser.add_argument("--session-ttl", type=float, default=20.0)
    parser.add_argument("--period", type=float, default=5.0, help="seconds between memory samples")
    parser.add_argument("--seed", type=int, default=0)
    add_server_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
