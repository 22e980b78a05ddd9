"""``/health`` and ``/ready``: whether the process answers, whether it wants work; a word each.

Health checks come from balancers and supervisors, whose requests name no host that this server
knows, or none at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.security.error_forms import OLLAMA_CLIENT
from split_server.security.public import HEALTH_PATH, READY_PATH
from split_server.security.refusal import error_response
from split_wire.errors import ModelStopped

_METHODS = ("GET", "HEAD")
# Of what a browser sends for a page: those requests have the guards between them and any answer.
_BROWSERS = ("origin", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest")
_NO_STORE = {"Cache-Control": "no-store"}


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Condition:
    """``stopped``: a fault has ended the model; ``ready``: new sessions are wanted."""

    stopped: Callable[[], bool] = _never
    ready: Callable[[], bool] = _never

    def answer(self, scope: Scope) -> Response:
        """To a request for one of the two paths."""
        if scope["path"] == READY_PATH:
            return self._readiness()
        if self.stopped():
            return error_response(scope, ModelStopped())
        return JSONResponse({"status": "ok"}, headers=_NO_STORE)

    def _readiness(self) -> Response:
        if self.ready() and not self.stopped():
            return JSONResponse({"status": "ready"}, headers=_NO_STORE)
        return JSONResponse({"status": "unready"}, status_code=503, headers=_NO_STORE)


def health_routes(stopped: Callable[[], bool] = _never) -> list[Route]:
    """GET and HEAD of ``/health``: ``{"status": "ok"}``, or ``model_stopped`` once the model has
    ``stopped``.
    """
    return [_route(HEALTH_PATH, Condition(stopped))]


def condition_routes(condition: Condition) -> list[Route]:
    """``/health``, and ``/ready``: 200 with ``{"status": "ready"}`` or 503."""
    return [_route(path, condition) for path in (HEALTH_PATH, READY_PATH)]


def _route(path: str, condition: Condition) -> Route:
    async def told(request: Request) -> Response:
        return condition.answer(request.scope)

    return Route(path, told, methods=list(_METHODS))


def is_probe(scope: Scope) -> bool:
    """Whether a request is a health check, and not one that a browser makes for a page.

    Two Host headers are no check's (RFC 9112, 3.2, has them refused).
    """
    if scope["type"] != "http" or scope["path"] not in (HEALTH_PATH, READY_PATH):
        return False
    headers = Headers(scope=scope)
    if scope["method"] not in _METHODS or len(headers.getlist("host")) > 1:
        return False
    return not any(name in headers for name in _BROWSERS)


class Probes:
    """Pure ASGI, outside of the guards: answers health checks, whatever host they name."""

    def __init__(self, app: ASGIApp, condition: Condition) -> None:
        self._app, self._condition = app, condition

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_probe(scope) and not scope.get(OLLAMA_CLIENT):
            await self._condition.answer(scope)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
