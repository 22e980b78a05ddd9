"""A server whose page may ask an adapter host, and the host, which allows that page: both real."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_server
from typing import Any

from split_server.adapters.folder import open_adapters
from split_server.serving.adapter_host.startup import EMBEDDED_ADAPTERS
from tests.adapter_hosts import RunningHost, made_host, running_host
from tests.server_process import RunningServer, running_server

LOCAL = "127.0.0.1"


@dataclass(frozen=True)
class Pair:
    """``origin``: of the host; ``named``: an adapter of it as chats of the page keep it."""

    server: RunningServer
    host: RunningHost
    origin: str

    def named(self, adapter: str) -> str:
        return f"{adapter}@{self.origin}"


@contextmanager
def hosted_pair(
    model: Path | None = None,
    *,
    adapters: Path = EMBEDDED_ADAPTERS,
    hidden: int = 192,
    budget: int = 0,
    scheme: str = "http",
    host: dict[str, Any] | None = None,
    **settings: Any,
) -> Iterator[Pair]:
    """``host``: settings of the host, ``settings`` those of the server."""
    (own, theirs) = _free_ports()
    origin = f"{scheme}://{LOCAL}:{theirs}"
    allowed = {"port": theirs, "allow_origin": (f"http://{LOCAL}:{own}",)} | (host or {})
    made = made_host(open_adapters(adapters, hidden), budget=budget)
    with (
        running_host(made, **allowed) as running,
        running_server(model, port=own, adapter_origin=(origin,), **settings) as server,
    ):
        yield Pair(server, running, origin)


def _free_ports() -> tuple[int, int]:
    """Each end names the other's before that one listens."""
    with create_server((LOCAL, 0)) as first, create_server((LOCAL, 0)) as second:
        return first.getsockname()[1], second.getsockname()[1]
