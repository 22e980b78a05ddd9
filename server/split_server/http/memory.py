"""``/api/v1/memory``: what is free, what binds, and how well memory is predicted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


def memory_routes(report: Callable[[], dict[str, Any]]) -> list[Route]:
    """GET and HEAD of ``/api/v1/memory``; ``report`` is called for each."""

    async def memory(_: Request) -> Response:
        return JSONResponse(report(), headers={"Cache-Control": "no-store"})

    return [Route("/api/v1/memory", memory, methods=["GET", "HEAD"])]
