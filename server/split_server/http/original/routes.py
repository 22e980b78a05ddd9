"""The HTTP paths of the original protocol beside ``forward``: config, tokenize, verify."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from split_server.http.original.protocol import OriginalProtocol
from split_server.http.wire.body import Bodies
from split_wire.original.requests import MAX_JSON_BYTES

CONFIG_PATH = "/api/v1/split/config"
TOKENIZE_PATH = "/api/v1/split/tokenize"
VERIFY_PATH = "/api/v1/split/verify"


def original_routes(protocol: OriginalProtocol, bodies: Bodies) -> list[Route]:
    """Routes that answer from ``protocol``; ``forward`` and ``stream`` are routed elsewhere."""

    async def config(_: Request) -> Response:
        return _no_store(protocol.config())

    return [
        Route(CONFIG_PATH, config, methods=["GET"]),
        Route(TOKENIZE_PATH, _posted(protocol.tokenize, bodies), methods=["POST"]),
        Route(VERIFY_PATH, _posted(protocol.verify, bodies), methods=["POST"]),
    ]


def _posted(
    answer: Callable[[bytes], Awaitable[dict[str, Any]]], bodies: Bodies
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        async with bodies.taken(request, MAX_JSON_BYTES) as body:
            return _no_store(await answer(body))

    return endpoint


def _no_store(values: dict[str, Any]) -> Response:
    return JSONResponse(values, headers={"Cache-Control": "no-store"})
