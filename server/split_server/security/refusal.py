"""How an error is told to an HTTP client or to a WebSocket that was not accepted yet."""

from __future__ import annotations

import math
from collections.abc import Mapping

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from split_wire.errors import SplitError

_POLICY_VIOLATION = 1008


def retry_headers(error: SplitError) -> dict[str, str]:
    """``Retry-After`` in whole seconds (RFC 9110, 10.2.3) where the error names a delay."""
    if error.retry_after is None:
        return {}
    return {"Retry-After": str(max(1, math.ceil(error.retry_after)))}


def error_response(error: SplitError, headers: Mapping[str, str] | None = None) -> Response:
    """``{"error": {"code", "message", "retryable"}}`` with the error's status."""
    body = {"code": error.code, "message": str(error), "retryable": error.retryable}
    merged = {"Cache-Control": "no-store"} | retry_headers(error) | dict(headers or {})
    return JSONResponse({"error": body}, status_code=error.status, headers=merged)


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    error: SplitError,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer a request, or a WebSocket handshake before it is accepted, with ``error``."""
    if scope["type"] == "websocket" and "websocket.http.response" not in scope["extensions"]:
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": error.code})
        return
    await error_response(error, headers)(scope, receive, send)
