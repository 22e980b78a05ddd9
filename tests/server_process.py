"""A real server over a real socket: the real application on the real uvicorn, in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

from split_server.http.wire.graceful import GracefulServer
from split_server.http.wire.server import listen, uvicorn_config
from split_server.security.access import AccessPolicy
from split_server.serving.app import SplitApp, served_models
from split_server.serving.config import ServerConfig
from split_server.serving.doorway import Doorway, door_limits, open_doorway
from split_server.serving.lifecycle.ops import ops_listening
from split_server.serving.models.naming import models_of
from split_server.serving.models.served import Served
from split_server.serving.parts import Parts
from split_server.serving.process import beside_of, ollama_address
from split_server.serving.startup import load_parts
from split_server.serving.upkeep import certificate_upkeep
from split_wire.messages import CONTENT_TYPE, SUBPROTOCOL
from tests.patience import PATIENCE

STREAM_PATH = "/api/v1/split/stream"
FORWARD_PATH = "/api/v1/split/forward"


@dataclass
class RunningServer:
    """``url`` without a trailing slash; ``manifest`` is the digest that the server answers to;
    ``ollama_port`` and ``ops_port``: of the further listeners, if there are any.
    """

    port: int
    parts: Parts
    app: SplitApp
    doorway: Doorway
    server: GracefulServer
    thread: threading.Thread
    loop: asyncio.AbstractEventLoop
    ollama_port: int = 0
    ops_port: int = 0

    def lose_sessions(self) -> None:
        """Have every session end as if it had been idle for long."""

        async def lost() -> None:
            store = self.parts.steps.store
            for session in [*store._sessions.values()]:
                store.lose(session)
            reuse = self.parts.steps.reuse
            if reuse is not None:
                await asyncio.gather(*reuse.parking)

        asyncio.run_coroutine_threadsafe(lost(), self.loop).result(PATIENCE)

    @property
    def url(self) -> str:
        return f"{self.doorway.scheme}://127.0.0.1:{self.port}"

    @property
    def policy(self) -> AccessPolicy:
        return self.doorway.policy

    @property
    def manifest(self) -> str:
        return self.parts.manifest.digest

    def client(self, **options: Any) -> httpx.Client:
        """An HTTP client with the server's address; close it or use it in a ``with``."""
        return httpx.Client(base_url=self.url, trust_env=False, timeout=PATIENCE, **options)

    def socket(self, *, subprotocol: str | None = SUBPROTOCOL, **options: Any) -> ClientConnection:
        """A WebSocket on the stream path; None speaks the original protocol."""
        options.setdefault("open_timeout", PATIENCE)
        offered = None if subprotocol is None else [subprotocol]
        return connect(
            f"ws://127.0.0.1:{self.port}{STREAM_PATH}",
            subprotocols=offered,  # type: ignore[arg-type]
            compression=None,
            max_size=None,
            proxy=None,
            **options,
        )

    def post(self, frame: bytes, **headers: str) -> httpx.Response:
        """POST one ``split.v1`` frame."""
        with self.client() as client:
            content_type = {"Content-Type": CONTENT_TYPE}
            return client.post(FORWARD_PATH, content=frame, headers=content_type | headers)

    def raw(self, request: bytes) -> bytes:
        """Send bytes over TCP and read until the server closes."""
        with create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as raw:
            raw.sendall(request)
            return raw.makefile("rb").read()

    def stop(self) -> None:
        """Stop in order and wait for it."""
        self.server.should_exit = True
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


def _served(config: ServerConfig, parts: Parts | None) -> Served:
    if parts is None:
        return served_models(config)
    return Served(
        models=models_of(config), parts=parts, load=lambda named: load_parts(named.config)
    )


@contextmanager
def running_server(
    model: Path | tuple[str, ...] | None = None,
    *,
    parts: Parts | None = None,
    port: int = 0,
    served: Callable[[ServerConfig], Served] | None = None,
    **settings: Any,
) -> Iterator[RunningServer]:
    """Serve ``model`` (None: the embedded one), given ``parts`` or what ``served`` makes of the
    settings; ``settings`` as in ServerConfig.

    The port is free by default. The server is stopped at the end of the ``with``.
    """
    given = str(model) if isinstance(model, Path) else model
    config = ServerConfig(model=given, port=port, **settings)
    address = ollama_address(config)
    doorway = open_doorway(config, beside=None if address is None else address.host)
    sockets = listen(doorway.host, config.port)
    others = [] if address is None else listen(address.host, address.port or 0)
    upkeep = certificate_upkeep(doorway.certificate)
    models = _served(config, parts) if served is None else served(config)
    app = SplitApp(models, config, doorway.policy, doorway.pairing, upkeep)
    with ops_listening(config, doorway.policy, app) as ops:
        started = threading.Event()
        loops: list[asyncio.AbstractEventLoop] = []

        def begun() -> None:
            loops.append(asyncio.get_running_loop())
            started.set()

        uvicorn = uvicorn_config(
            app.asgi, app.max_message_bytes, config.shutdown_grace, doorway.tls, door_limits(config)
        )
        beside = (*beside_of(doorway, app.asgi, others), *ops)
        server = GracefulServer(uvicorn, app.drain, begun, *beside)
        thread = threading.Thread(target=server.run, args=(sockets,), name="server", daemon=True)
        thread.start()
        assert started.wait(PATIENCE)
        running = RunningServer(
            sockets[0].getsockname()[1], app.parts, app, doorway, server, thread, loops[0]
        )
        running.ops_port = ops[0].sockets[0].getsockname()[1] if ops else 0
        running.ollama_port = others[0].getsockname()[1] if others else 0
        try:
            yield running
        finally:
            running.stop()
