"""A hundred thousand hostile messages against a server that chats with somebody else meanwhile.

A real split-server with the embedded model in float32, in torch or (--engine) in llama.cpp. Real
frames of split.v1 and of the original protocol, JSON of OpenAI's and Kobold's APIs, HTTP requests
and WebSocket bytes, each damaged by a seeded generator. Beside them a client's greedy replies are
compared with Hugging Face `generate`, and a watchdog pings over a connection of its own. Exit
status 1: a crash, an internal error, a ping that took longer than a second, another reply, sessions
that stay, or memory that has grown.
"""

from __future__ import annotations

import argparse
import contextlib
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.bench.engines import add_engine_option, embedded_flags
from scripts.bench.hostile.chat import Chat
from scripts.bench.hostile.messages import KINDS, Kind, Target
from scripts.bench.hostile.report import Siege, problems, report
from scripts.bench.logged_server import LoggedServer, logged_server, server_folder
from scripts.bench.options import add_server_option
from scripts.bench.process_memory import unique_bytes
from scripts.bench.report import finish
from scripts.bench.workers import Worker
from split_client.api import SplitClient

_NAMES = ("hostile", "chat", "watch")
# The model's, the interpreter's and the allocator's first messages of each kind.
_WARM_UP = 3_000
_POLL_SECONDS = 0.5


def main() -> None:
    options = _options()
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        tokens = {name: secrets.token_hex(16) for name in _NAMES}
        server = stack.enter_context(_server(folder, tokens, options))
        siege = _besieged(stack, server, folder, tokens, options)
    report(siege, options.seed)
    finish(problems(siege, options.hang, options.growth))


@contextlib.contextmanager
def _server(
    folder: Path, tokens: dict[str, str], options: argparse.Namespace
) -> Iterator[LoggedServer]:
    file = folder / "tokens"
    file.touch(mode=0o600)
    file.write_text("".join(f"{name} {token}\n" for name, token in tokens.items()))
    flags = [*embedded_flags(folder, options.engine), "--dtype", "float32"]
    flags += ["--token-file", str(file)]
    flags += ["--max-sessions", "60", "--max-sessions-per-principal", "40"]
    flags += ["--session-ttl", str(options.session_ttl), *options.server]
    with logged_server(folder / "server.log", *flags, token=tokens["watch"]) as server:
        yield server


def _besieged(
    stack: contextlib.ExitStack,
    server: LoggedServer,
    folder: Path,
    tokens: dict[str, str],
    options: argparse.Namespace,
) -> Siege:
    cache = folder / "cache"
    target = _target(server.url, tokens["hostile"], cache)
    senders = [_worker(stack, "scripts.bench.hostile.sender") for _ in range(options.senders)]
    watch = _worker(stack, "scripts.bench.hostile.watch")
    chat = Chat(server.url, tokens["chat"], cache)
    stack.callback(chat.close)
    _send(senders, target, min(_WARM_UP, options.messages), f"{options.seed}/first")
    before = _memory(server)
    watch.ask(op="start", url=server.url, token=tokens["watch"], period=0.05)
    chat.start()
    began = time.monotonic()
    answers = _send(senders, target, options.messages, str(options.seed))
    lasted = time.monotonic() - began
    chatted, watched = chat.stop(), watch.ask(op="stop")
    chat.close()
    loaded = _memory(server)
    sessions, sockets = _left(server, options.session_ttl + 30.0)
    private = (before, loaded, _memory(server))
    return Siege(
        answers,
        lasted,
        watched["seconds"],
        watched["late"],
        watched["failures"],
        chatted,
        private,
        sessions,
        sockets,
        server.faults(),
        server.process.poll(),
    )


def _memory(server: LoggedServer) -> int:
    """Private bytes beside the K/V buffers, which wait for the next session."""
    return unique_bytes(server.process.pid) - server.cache_bytes()


def _target(url: str, token: str, cache: Path) -> Target:
    with SplitClient(url, token=token, cache=cache) as client:
        served = client.manifest
        return Target(url, token, served.name, served.hidden_size, served.digest)


def _worker(stack: contextlib.ExitStack, module: str) -> Worker:
    worker = Worker(module)
    stack.callback(worker.close)
    return worker


def _send(
    senders: list[Worker], target: Target, messages: int, seed: str
) -> dict[Kind, dict[str, Any]]:
    """Messages of all kinds from all senders at once; what was answered, by kind."""
    share = messages // len(senders)

    def send(number: int) -> list[tuple[Kind, dict[str, Any]]]:
        # In another order each, so that kinds meet.
        kinds = list(KINDS)
        kinds = kinds[number % len(kinds) :] + kinds[: number % len(kinds)]
        return [
            (
                kind,
                senders[number].ask(
                    target=asdict(target),
                    kind=kind,
                    count=round(share * KINDS[kind]),
                    seed=f"{seed}/{number}/{kind}",
                ),
            )
            for kind in kinds
        ]

    found: dict[Kind, dict[str, Any]] = {}
    with ThreadPoolExecutor(len(senders)) as pool:
        for answered in pool.map(send, range(len(senders))):
            for kind, one in answered:
                known = found.setdefault(kind, {"codes": Counter(), "longest": 0.0, "faults": []})
                known["codes"] += Counter(one["codes"])
                known["longest"] = max(known["longest"], one["longest"])
                known["faults"] += one["faults"]
    return found


def _left(server: LoggedServer, patience: float) -> tuple[int, int]:
    """Sessions and WebSockets that are open, once they had time to go."""
    until = time.monotonic() + patience
    while any(left := (server.gauge("split_sessions"), server.gauge("split_sockets"))):
        if time.monotonic() > until:
            break
        time.sleep(_POLL_SECONDS)
    return left


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", help="keep weights, tokens and log here")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--senders", type=int, default=6, help="processes that send")
    parser.add_argument("--hang", type=float, default=1.0, help="seconds of a ping that fail")
    parser.add_argument("--growth", type=float, default=10.0, help="MB that memory may have grown")
    parser.add_argument("--session-ttl", type=float, default=15.0)
    parser.add_argument("--seed", type=int, default=0)
    add_engine_option(parser)
    add_server_option(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
