"""Connections without a token by the thousand, beside somebody who has one."""

from __future__ import annotations

import contextlib
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from scripts.bench.attacks.figure import Figure
from scripts.bench.attacks.watched import quiet, watching
from scripts.bench.logged_server import LoggedServer, logged_server

_TOKEN = "a-token-of-enough-length"  # noqa: S105 - of a server that lives for seconds
_EACH = 1100
_SECONDS = 10.0
_ASKED = b"GET /weights/manifest.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
# A machine has all of 127.0.0.0/8, so that these are strangers from one and from many addresses.
_SOURCES = {"one address": 1, "fifty addresses": 50}


def attack(folder: Path) -> list[Figure]:
    """``/health`` and an owner's requests once 1,100 connections were made and are kept."""
    figures: list[Figure] = []
    with logged_server(folder / "connections.log", "--token", _TOKEN, token=_TOKEN) as server:
        figures.append(quiet(server.url))
        for name, addresses in _SOURCES.items():
            figures += _crowd(server, name, addresses)
        lines = server.log.read_text().count("the door is crowded")
        faults = len(server.faults())
    return [
        *figures,
        Figure("log lines about it", str(lines), "2", lines <= 2),
        Figure("errors in the log", str(faults), "0", not faults),
    ]


def _crowd(server: LoggedServer, name: str, addresses: int) -> list[Figure]:
    with contextlib.ExitStack() as stack:
        for number in range(_EACH):
            _stranger(server.url, f"127.0.1.{1 + number % addresses}", stack)
        with watching(server.url) as watched:
            asked, served = _owner(server)
    found = watched.figure()
    count = f"{served} of {asked}"
    return [
        Figure(f"{name}: {found.name}", found.value, found.bar, found.held),
        Figure(f"{name}: requests of the owner served", count, "all", served == asked),
    ]


def _owner(server: LoggedServer) -> tuple[int, int]:
    """Requests with a token for ten seconds: how many were made, and served."""
    asked = served = 0
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        asked += 1
        with contextlib.suppress(httpx.HTTPError):
            served += server.get("/weights/manifest.json").status_code == httpx.codes.OK
        time.sleep(0.2)
    return asked, served


def _stranger(url: str, source: str, stack: contextlib.ExitStack) -> None:
    """A connection that has asked once without a token and is kept open."""
    address = urlsplit(url)
    with contextlib.suppress(OSError):
        made = socket.create_connection((address.hostname, address.port), 5, (source, 0))
        stack.enter_context(made)
        made.sendall(_ASKED)
