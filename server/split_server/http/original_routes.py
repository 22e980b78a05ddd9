"""The HTTP paths of the original protocol beside ``forward``: config, tokenize, verify."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from split_server.http.original import OriginalProtocol
from split_server.security.refusal import error_response
from split_wire.errors import FrameTooLarge, SplitError
from split_wire.original.requests import MAX_JSON_BYTES

CONFIG_PATH = "/api/v1/split/config"
TOKENIZE_PATH = "/api/v1/split/tokenize"
VERIFY_PATH = "/api/v1/split/verify"


def original_routes(protocol: OriginalProtocol) -> list[Route]:
    """Routes that answer from ``protocol``; ``forward`` and ``stream`` are routed elsewhere."""

    async def config(_: Request) -> Response:
        return _no_store(protocol.config())

    return [
        Route(CONFIG_PATH, config, methods=["GET"]),
        Route(TOKENIZE_PATH, _posted(protocol.tokenize), methods=["POST"]),
        Route(VERIFY_PATH, _posted(protocol.verify), methods=["POST"]),
    ]


def _posted(
    answer: Callable[[bytes], Awaitable[dict[str, Any]]],
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return _no_store(await answer(await _read(request)))
        except SplitError as error:
            return error_response(error)

    return endpoint


async def _read(request: Request) -> bytes:
    """The body, refused as soon as it outgrows the limit."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_JSON_BYTES:
            raise FrameTooLarge(len(body), MAX_JSON_BYTES)
    return bytes(body)


def _no_store(values: dict[str, Any]) -> Response:
    return JSONResponse(values, headers={"Cache-Control": "no-store"})
