"""Ollama's API: the model, chats and texts.

In this mode the text reaches the server: docs/ollama-api.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from split_server.compat.ollama.descriptions import VERSION as LEVEL
from split_server.compat.ollama.descriptions import Described
from split_server.compat.ollama.known import SHOW as SHOWN
from split_server.compat.ollama.names import asked_model
from split_server.compat.ollama.request import parse_ollama_chat, parse_ollama_generate
from split_server.compat.openai.errors import UnsupportedParameter, api_error
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.service import OpenAIService
from split_server.http.ollama.chat import OllamaChat
from split_server.http.ollama.form import OLLAMA_FORM
from split_server.http.ollama.paths import CHAT, GENERATE, PS, REFUSED, SHOW, TAGS, VERSION
from split_server.http.openai.form import encoded
from split_server.http.openai.guard import Asked, posted
from split_server.http.openai.sink import Sink, error_answer
from split_server.http.wire.body import Bodies

_HEADERS = {"Cache-Control": "no-store"}
_JSON = "application/json"
_GREETING = "Ollama is running"


def ollama_routes(model: Described, service: OpenAIService, bodies: Bodies) -> list[BaseRoute]:
    """All paths; ``model``: the one that is served."""
    served, large = service.served, service.texts.large
    chat, generate = OllamaChat(service, "chat"), OllamaChat(service, "generate")
    form = lambda: OLLAMA_FORM  # noqa: E731

    async def show(_: str, who: Asked, sink: Sink) -> None:
        del who
        await sink.json(model.shown())

    return [
        _got(TAGS, model.tags),
        _got(PS, model.running),
        _got(VERSION, lambda: {"version": LEVEL}),
        Route(SHOW, posted(bodies, served, large, _parse_show, show, form), methods=["POST"]),
        Route(
            CHAT,
            posted(bodies, served, large, parse_ollama_chat, chat.answer, form),
            methods=["POST"],
        ),
        Route(
            GENERATE,
            posted(bodies, served, large, parse_ollama_generate, generate.answer, form),
            methods=["POST"],
        ),
        *(_refused(path, methods) for path, methods in REFUSED.items()),
    ]


def greeting_route() -> Route:
    """``/`` of a listener of this API alone, by which its clients know it."""

    async def answer(_: Request) -> Response:
        return Response(_GREETING, headers=_HEADERS, media_type="text/plain")

    return Route("/", answer, methods=["GET"])


def _parse_show(fields: Fields, served: ServedModel) -> str:
    check_unread(fields, SHOWN)
    return asked_model(fields, served)


def _got(path: str, document: Callable[[], dict[str, Any]]) -> Route:
    async def answer(_: Request) -> Response:
        return Response(encoded(document()), headers=_HEADERS, media_type=_JSON)

    return Route(path, answer, methods=["GET"])


def _refused(path: str, methods: tuple[str, ...]) -> Route:
    name = path.split("/")[2]
    error = UnsupportedParameter(
        name, "this server serves the model that it was started with; see --model"
    )

    async def answer(_: Request) -> Response:
        return error_answer(api_error(error, 0), OLLAMA_FORM)

    return Route(path, answer, methods=list(methods))
