"""Routes of the list of models in the text APIs, where several are served or one is not loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from split_server.compat.openai.errors import api_error
from split_server.compat.openai.fields import clean
from split_server.compat.openai.model import ALIAS
from split_server.http.ollama.paths import PS, TAGS
from split_server.http.openai.sink import error_answer
from split_server.serving.models.directory import Directory
from split_wire.errors import UnknownModel

_NO_STORE = {"Cache-Control": "no-store"}


def openai_listing(directory: Directory, names: Sequence[str] = ()) -> list[BaseRoute]:
    """``/v1/models`` and one of them, of ``names`` alone where there are any."""

    async def models(_: Request) -> Response:
        return _answer({"object": "list", "data": directory.openai(names)})

    async def model(request: Request) -> Response:
        asked = clean(request.path_params["id"])
        known = {document["id"]: document for document in directory.openai(names)}
        # What clients of one model may call it stays the first one's.
        found = next(iter(known.values()), None) if asked == ALIAS else known.get(asked)
        if found is None:
            return error_answer(api_error(UnknownModel(asked, [*known]), 0))
        return _answer(found)

    return [
        Route("/v1/models", models, methods=["GET"]),
        Route("/v1/models/{id:path}", model, methods=["GET"]),
    ]


def ollama_listing(directory: Directory, names: Sequence[str] = ()) -> list[BaseRoute]:
    """``/api/tags`` and ``/api/ps``, of ``names`` alone where there are any."""
    return [
        _got(TAGS, lambda: directory.tags(names)),
        _got(PS, lambda: directory.running(names)),
    ]


def _got(path: str, document: Callable[[], dict[str, Any]]) -> Route:
    async def answer(_: Request) -> Response:
        return _answer(document())

    return Route(path, answer, methods=["GET"])


def _answer(document: dict[str, Any]) -> Response:
    return JSONResponse(document, headers=_NO_STORE)
