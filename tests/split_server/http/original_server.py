"""The original protocol alone, over the real service and a real socket."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from split_server.http.errors import ErrorBoundary
from split_server.http.original import OriginalProtocol
from split_server.http.original_routes import original_routes
from split_server.service import SplitService
from tests.split_server.http.upstream_client import FORWARD, STREAM


def application(service: SplitService, protocol: OriginalProtocol) -> Starlette:
    """Routes as a server has them; the header ``principal`` stands for the authentication."""

    async def forward(request: Request) -> Response:
        return await protocol.http(
            request.headers.get("principal", "local"),
            request.headers.get("content-type", ""),
            await request.body(),
        )

    async def stream(websocket: WebSocket) -> None:
        await protocol.websocket(websocket.headers.get("principal", "local"), websocket)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.start()
        yield
        await service.stop()

    routes = [Route(FORWARD, forward, methods=["POST"]), WebSocketRoute(STREAM, stream)]
    return Starlette(
        routes=routes + original_routes(protocol),
        middleware=[Middleware(ErrorBoundary)],
        lifespan=lifespan,
    )


@contextmanager
def serving(app: ASGIApp) -> Iterator[str]:
    """Run ``app`` on a free port of loopback; its base URL."""
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, log_level="warning", ws="websockets-sansio", access_log=False)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + 30
        while not server.started and thread.is_alive() and time.monotonic() < deadline:
            thread.join(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
