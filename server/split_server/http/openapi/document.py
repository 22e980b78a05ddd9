"""``GET /openapi.json``: the HTTP routes of the compatible APIs as an OpenAPI 3.1 document."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, compile_path

from split_server.http.openapi.embeddings import embeddings_paths
from split_server.http.openapi.kobold import KOBOLD_SCHEMAS, kobold_paths
from split_server.http.openapi.messages import MESSAGES_SCHEMAS, messages_paths
from split_server.http.openapi.ollama import OLLAMA_SCHEMAS, ollama_paths
from split_server.http.openapi.openai import OPENAI_SCHEMAS, openai_paths
from split_server.http.openapi.parts import JSON, Schema
from split_server.http.openapi.responses import RESPONSES_SCHEMAS, responses_paths

PATH = "/openapi.json"
_DESCRIPTION = (
    "Text reaches the server in these APIs. Split inference has a protocol of its own: "
    "docs/protocol.md."
)
_PACKAGE = "gatelink"
_SCHEMAS = {
    **OPENAI_SCHEMAS,
    **RESPONSES_SCHEMAS,
    **MESSAGES_SCHEMAS,
    **OLLAMA_SCHEMAS,
    **KOBOLD_SCHEMAS,
}


def openapi_routes(vocab_size: int) -> list[BaseRoute]:
    """The document, put together once."""
    content = json.dumps(openapi_document(vocab_size)).encode()

    async def answer(_: Request) -> Response:
        return Response(content, headers={"Cache-Control": "no-store"}, media_type=JSON)

    return [Route(PATH, answer, methods=["GET"])]


def openapi_document(vocab_size: int) -> Schema:
    """The whole document; ``vocab_size``: token ids are below it."""
    token = {"type": "integer", "minimum": 0, "maximum": vocab_size - 1}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Gatelink", "version": _version(), "description": _DESCRIPTION},
        "paths": _paths(),
        "components": {
            "schemas": _SCHEMAS | {"TokenId": token},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def is_documented(path: str) -> bool:
    """Whether ``path`` is in the document, with whatever stands for a parameter."""
    return any(pattern.fullmatch(path) for pattern in _PATTERNS)


def _paths() -> Schema:
    return {
        **openai_paths(),
        **responses_paths(),
        **messages_paths(),
        **ollama_paths(),
        **embeddings_paths(),
        **kobold_paths(),
    }


def _version() -> str:
    try:
        return version(_PACKAGE)
    # From a source tree that is not installed.
    except PackageNotFoundError:
        return "0"


_PATTERNS = tuple(compile_path(path)[0] for path in _paths())
