"""Errors as an HTTP client or a WebSocket that was not accepted yet is told them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from split_server.error_reports import report_error
from split_server.security.error_forms import error_body
from split_wire.errors import SplitError

_POLICY_VIOLATION = 1008
_BODY_UNREAD = (408, 413)


def error_headers(error: SplitError) -> dict[str, str]:
    """``Retry-After`` in whole seconds (RFC 9110, 10.2.3) where the error names a delay."""
    headers = {"Cache-Control": "no-store"}
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    # The rest of a body that was refused unread is not worth reading.
    if error.status in _BODY_UNREAD:
        headers["Connection"] = "close"
    return headers


def error_response(
    scope: Scope, error: SplitError, headers: Mapping[str, str] | None = None
) -> Response:
    """``error`` with its status, as whoever asks in ``scope`` reads it."""
    report_error(error.code)
    merged = error_headers(error) | dict(headers or {})
    return JSONResponse(error_body(scope, error), status_code=error.status, headers=merged)


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    error: SplitError,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer a request, or a WebSocket handshake before it is accepted, with ``error``."""
    if scope["type"] == "websocket" and "websocket.http.response" not in scope["extensions"]:
        report_error(error.code)
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": error.code})
        return
    await error_response(scope, error, headers)(scope, receive, send)
