"""``/health``: whether the server serves, and nothing else about it."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from split_server.security.refusal import error_response
from split_wire.errors import ModelStopped


def health_routes(stopped: Callable[[], bool] = lambda: False) -> list[Route]:
    """GET and HEAD of ``/health``: ``{"status": "ok"}``, or ``model_stopped`` once the model has
    ``stopped``.
    """

    async def health(request: Request) -> Response:
        if stopped():
            return error_response(request.scope, ModelStopped())
        return JSONResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})

    return [Route("/health", health, methods=["GET", "HEAD"])]
