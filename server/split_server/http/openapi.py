"""``GET /openapi.json``: the HTTP routes of the compatible APIs as an OpenAPI 3.1 document."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from split_server.http.openapi_kobold import KOBOLD_SCHEMAS, kobold_paths
from split_server.http.openapi_openai import OPENAI_SCHEMAS, openai_paths
from split_server.http.openapi_parts import JSON, Schema

PATH = "/openapi.json"
_DESCRIPTION = (
    "Text reaches the server in these APIs. Split inference has a protocol of its own: "
    "docs/protocol.md."
)
_PACKAGE = "gatelink"


def openapi_routes() -> list[BaseRoute]:
    """The document, put together once."""
    content = json.dumps(openapi_document()).encode()

    async def answer(_: Request) -> Response:
        return Response(content, headers={"Cache-Control": "no-store"}, media_type=JSON)

    return [Route(PATH, answer, methods=["GET"])]


def openapi_document() -> Schema:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Gatelink", "version": _version(), "description": _DESCRIPTION},
        "paths": openai_paths() | kobold_paths(),
        "components": {
            "schemas": OPENAI_SCHEMAS | KOBOLD_SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _version() -> str:
    try:
        return version(_PACKAGE)
    # From a source tree that is not installed.
    except PackageNotFoundError:
        return "0"
