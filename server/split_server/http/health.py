"""``/health``: whether the server answers, and nothing about it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def health(_: Request) -> Response:
    """``{"status": "ok"}``."""
    return JSONResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})


def health_routes() -> list[Route]:
    """GET and HEAD of ``/health``."""
    return [Route("/health", health, methods=["GET", "HEAD"])]
