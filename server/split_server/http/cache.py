"""``/api/v1/cache``: what is kept for later sessions of the caller, and its deletion."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from split_server.compat.keeping import MAX_SALT
from split_server.http.wire.body import Bodies
from split_server.http.wire.errors import BadRequest
from split_server.security.principal import principal_of
from split_server.sessions.own_cache import OwnCache

MAX_BODY = 4096
_NO_STORE = {"Cache-Control": "no-store"}


def cache_routes(own: OwnCache, bodies: Bodies) -> list[Route]:
    """GET, HEAD and DELETE of ``/api/v1/cache``."""

    async def figures(request: Request) -> Response:
        return JSONResponse(own.figures(principal_of(request.scope)), headers=_NO_STORE)

    async def purge(request: Request) -> Response:
        async with bodies.taken(request, MAX_BODY) as body:
            salt = _salt(body)
        freed = await own.purge(principal_of(request.scope), salt)
        return JSONResponse(freed, headers=_NO_STORE)

    return [
        Route("/api/v1/cache", figures, methods=["GET", "HEAD"]),
        Route("/api/v1/cache", purge, methods=["DELETE"]),
    ]


def _salt(body: bytes) -> str | None:
    """The salt that a body names, None where it names none. Raises BadRequest."""
    if not body:
        return None
    try:
        values: Any = json.loads(body)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or values.keys() - {"cache_salt"}:
        raise BadRequest('send nothing, or {"cache_salt": "the salt"}')
    salt = values.get("cache_salt")
    if salt is None or (isinstance(salt, str) and len(salt) <= MAX_SALT):
        return salt
    raise BadRequest(f"cache_salt must be a text of at most {MAX_SALT} characters")
