"""Devices whose tokens are taken back while they have everything open and read nothing."""

from __future__ import annotations

import contextlib
import socket
import time
from pathlib import Path

from scripts.bench.attacks.figure import Figure
from scripts.bench.attacks.raw import BINARY, LAST, frame, stream
from scripts.bench.logged_server import logged_server
from split_wire.codec import encode_message
from split_wire.messages import Ping

_UNREAD = 10
_BAR_SECONDS = 1.0
_LONGEST = 30.0
_TOKENS = {name: f"the-token-of-{name}-here" for name in ("stays", "reads", "unread")}
_ASK = frame(LAST | BINARY, encode_message(Ping()))


def attack(folder: Path) -> list[Figure]:
    """How long sockets live on after their tokens were removed from the tokens file."""
    tokens = folder / "revoked.tokens"
    _write(tokens, *_TOKENS)
    log = folder / "revoked.log"
    with (
        logged_server(log, "--token-file", str(tokens), token=_TOKENS["stays"]) as server,
        contextlib.ExitStack() as stack,
    ):
        unread = [_stuck(server.url, stack) for _ in range(_UNREAD)]
        reads = stack.enter_context(stream(server.url, _TOKENS["reads"]))
        stays = stack.enter_context(stream(server.url, _TOKENS["stays"]))
        _write(tokens, "stays")
        seconds = _answered_for(reads)
        left = _open_after(unread, time.monotonic() + _BAR_SECONDS)
        stays.sendall(_ASK)
        kept = bool(stays.recv(4096))
    return [
        Figure("answers after the revocation, for", f"{seconds:.2f} s", "1 s", seconds <= 1.0),
        Figure("unread sockets left open", f"{left} of {_UNREAD}", "0", not left),
        Figure("the device that stays", "served" if kept else "cut", "served", kept),
    ]


def _write(path: Path, *names: str) -> None:
    path.write_text("".join(f"{name} {_TOKENS[name]}\n" for name in names))


def _stuck(url: str, stack: contextlib.ExitStack) -> socket.socket:
    """A socket that asks until the server cannot send more, and reads nothing."""
    made = stack.enter_context(stream(url, _TOKENS["unread"], unread=True))
    made.settimeout(0.5)
    with contextlib.suppress(TimeoutError):
        while True:
            made.sendall(100 * _ASK)
    return made


def _answered_for(made: socket.socket) -> float:
    """Seconds until the server no longer answers."""
    begun = time.monotonic()
    with contextlib.suppress(OSError):
        while time.monotonic() - begun < _LONGEST:
            made.sendall(_ASK)
            answer = made.recv(4096)
            if not answer or answer[0] == LAST | 0x08:
                break
            time.sleep(0.01)
    return time.monotonic() - begun


def _open_after(sockets: list[socket.socket], deadline: float) -> int:
    """How many the server has not broken off by then: sending to those goes on."""
    time.sleep(max(0.0, deadline - time.monotonic()))
    return sum(_is_open(made) for made in sockets)


def _is_open(made: socket.socket) -> bool:
    made.settimeout(0.2)
    try:
        for _ in range(3):
            made.sendall(_ASK)
            time.sleep(0.02)
    except TimeoutError:
        return True
    except OSError:
        return False
    return True
