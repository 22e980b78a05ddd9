"""As many idle sessions as one principal gets, and more: does anybody else still get one?"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from scripts.bench.attacks.figure import Figure
from scripts.bench.logged_server import LoggedServer, logged_server
from scripts.bench.row_sessions import RowSession, Served
from scripts.bench.shapes import EMBEDDED
from split_client.errors import ClientError

_GREEDY, _OTHERS, _ROWS = 40, 40, 8
_IDLE_SECONDS = 6.0
# A newcomer may have to wait until a session of the greedy one has been idle for some seconds.
_MOST_SECONDS = 8.0
_TOKENS = {
    "greedy": "greedy-with-idle-sessions",
    "modest": "modest-with-one-chat",
    "many": "many-chats-at-once",
}


def attack(folder: Path) -> list[Figure]:
    """How many of the others are served beside idle sessions with default limits."""
    file = folder / "tokens"
    file.touch(mode=0o600)
    file.write_text("".join(f"{name} {token}\n" for name, token in _TOKENS.items()))
    flags = ("--model", str(EMBEDDED), "--token-file", str(file))
    with (
        logged_server(folder / "server.log", *flags, token=_TOKENS["modest"]) as server,
        contextlib.ExitStack() as stack,
    ):
        return _besieged(stack, server, folder)


def _besieged(stack: contextlib.ExitStack, server: LoggedServer, folder: Path) -> list[Figure]:
    served = Served.at(server.url, _TOKENS["modest"], folder / "cache")
    for _ in range(_GREEDY):
        _opened(stack, served, "greedy")
    idle = server.gauge("split_sessions")
    time.sleep(_IDLE_SECONDS)
    waits = [_opened(stack, served, name) for name in ["modest", *["many"] * _OTHERS]]
    answered = [seconds for seconds in waits if seconds is not None]
    slowest = max(answered, default=0.0)
    return [
        Figure("idle sessions of one principal", str(idle), "32", idle <= 32),
        Figure(
            "others that were served",
            f"{len(answered)} of {len(waits)}",
            "all",
            len(answered) == len(waits),
        ),
        Figure(
            "slowest first step",
            f"{slowest:.2f} s",
            f"{_MOST_SECONDS:g} s",
            slowest < _MOST_SECONDS,
        ),
    ]


def _opened(stack: contextlib.ExitStack, served: Served, name: str) -> float | None:
    """Seconds until the first step of one more session is answered, None for a refusal."""
    session = RowSession(served, _TOKENS[name], patience=2.0)
    stack.callback(session.close)
    began = time.monotonic()
    try:
        session.step(0, _ROWS)
    except ClientError:
        return None
    return time.monotonic() - began
