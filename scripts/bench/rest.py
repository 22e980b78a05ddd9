"""Leftovers on the server once all clients are gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psutil

from scripts.bench.logged_server import LoggedServer
from scripts.bench.process_memory import unique_bytes

_POLL_SECONDS = 0.5
_HALF_OPEN = (psutil.CONN_ESTABLISHED, psutil.CONN_CLOSE_WAIT)


@dataclass(frozen=True, slots=True)
class Rest:
    """``kept``: idle sequences of the compatible APIs; ``reserved``: bytes of cache of sessions;
    ``private``: bytes of memory; ``sockets``: connections that are open; ``settled`` seconds until
    nothing ran any more.
    """

    running: int
    waiting: int
    kept: int
    reserved: int
    private: int
    sockets: int
    threads: int
    ended: int
    reply_tokens: int
    settled: float


def rest_of(server: LoggedServer, patience: float, session_ttl: float) -> Rest:
    """Wait ``patience`` seconds for the generations to end, and for the sessions left behind
    ``session_ttl`` longer; then count.
    """
    began = time.monotonic()
    _wait(lambda: not _busy(server), began + patience)
    settled = time.monotonic() - began
    _wait(
        lambda: not server.memory()["caches"]["reserved"] and not _sockets(server),
        time.monotonic() + patience + session_ttl,
    )
    # Before the questions below open connections of their own.
    sockets = _sockets(server)
    stats = _stats(server)
    generations = stats["generations"]
    return Rest(
        generations["running"],
        generations["waiting"],
        stats["sessions"]["idle"],
        server.memory()["caches"]["reserved"],
        unique_bytes(server.process.pid),
        sockets,
        psutil.Process(server.process.pid).num_threads(),
        generations["ended"],
        stats["tokens"]["completion"],
        settled,
    )


def _wait(settled: Callable[[], bool], until: float) -> None:
    while not settled() and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)


def _busy(server: LoggedServer) -> bool:
    generations = _stats(server)["generations"]
    return bool(generations["running"] or generations["waiting"])


def _stats(server: LoggedServer) -> dict[str, Any]:
    document: dict[str, Any] = server.get("/v1/stats").json()
    return document


def _sockets(server: LoggedServer) -> int:
    found = psutil.Process(server.process.pid).net_connections()
    return sum(one.status in _HALF_OPEN for one in found)
