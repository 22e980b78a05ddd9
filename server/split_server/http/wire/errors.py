"""Errors that only HTTP knows, and the boundary that turns every failure into an answer."""

from __future__ import annotations

import asyncio
import logging

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from split_server.http.wire.near_misses import named
from split_server.internal_error import internal_error
from split_server.security.refusal import error_response, refuse
from split_wire.errors import NotFound, ShuttingDown, SplitError

_log = logging.getLogger(__name__)
_INTERNAL_ERROR = 1011
SERVICE_RESTART = 1012


class MethodNotAllowed(SplitError):
    """Another HTTP method than the resource has."""

    code = "method_not_allowed"
    status = 405

    def __init__(self, allowed: str) -> None:
        super().__init__(f"this resource has another method: {allowed}")


class RequestTimeout(SplitError):
    """A body that did not arrive in time (seconds)."""

    code = "request_timeout"
    status = 408
    retryable = True

    def __init__(self, limit: float) -> None:
        super().__init__(f"the body did not arrive within {limit:g} s; send the request again")


class BadRequest(SplitError):
    """A request that HTTP itself refuses."""

    code = "bad_request"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


async def on_http_exception(request: Request, error: Exception) -> Response:
    """The router's own refusals in our form."""
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == 404:
        return error_response(request.scope, NotFound(named(request.scope)))
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "see docs/protocol.md")
        return error_response(request.scope, MethodNotAllowed(allowed), error.headers)
    return error_response(request.scope, BadRequest(error.detail))


class ErrorBoundary:
    """Pure ASGI: a typed error becomes its answer, anything else is logged under a reference.

    Nothing of a request but that reference reaches the client or the log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except (ClientDisconnect, WebSocketDisconnect):
            return
        except SplitError as refusal:
            error = refusal
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            # Not this request was cancelled but the step that it waits for: the server stops.
            error = ShuttingDown()
        # The boundary of a request: one failure must not be another request's.
        except Exception:  # noqa: BLE001
            error = internal_error()
        else:
            return
        if not started:
            await refuse(scope, receive, send, error)
        elif scope["type"] == "websocket":
            code = SERVICE_RESTART if isinstance(error, ShuttingDown) else _INTERNAL_ERROR
            await send({"type": "websocket.close", "code": code, "reason": error.code})
        else:
            # The status is out already; only an unfinished body can tell that something failed.
            _log.warning("an answer broke off: %s", error)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
