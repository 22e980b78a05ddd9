"""OpenAI's API: models, chat, completions; and the server's state in the same style.

In this mode the text reaches the server: docs/openai-api.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from split_server.compat.openai.chat_request import parse_chat_request
from split_server.compat.openai.completion_request import parse_completion_request
from split_server.compat.openai.errors import ModelNotFound, api_error
from split_server.compat.openai.fields import clean
from split_server.compat.openai.prompts.tokenize_request import (
    parse_detokenize_request,
    parse_tokenize_request,
)
from split_server.compat.openai.service import OpenAIService
from split_server.compat.openai.verify_request import parse_verify_request
from split_server.compat.openai.warm_request import parse_warm_request
from split_server.compat.parts import Compat
from split_server.http.openai.chat import Chat
from split_server.http.openai.completions import Completions
from split_server.http.openai.guard import posted
from split_server.http.openai.sink import error_answer
from split_server.http.openai.state import State
from split_server.http.openai.tokens import Tokens
from split_server.http.openapi.document import openapi_routes
from split_server.http.wire.body import Bodies

_NO_STORE = {"Cache-Control": "no-store"}


def openai_routes(
    compat: Compat, service: OpenAIService, bodies: Bodies, computed: Callable[[], int]
) -> list[BaseRoute]:
    """The routes of OpenAI's API, those of its relatives beside it, and the document that describes
    all APIs; ``computed``: positions. Raises MalformedCheckpoint where the model cannot be
    described.
    """
    chat, completions, state = Chat(service), Completions(service), State(service, computed)
    served, large = service.served, service.texts.large

    async def models(_: Request) -> Response:
        return JSONResponse(served.listing(), headers=_NO_STORE)

    async def model(request: Request) -> Response:
        try:
            served.check_name(clean(request.path_params["id"]))
        except ModelNotFound as unknown:
            return error_answer(api_error(unknown, 0))
        return JSONResponse(served.document(), headers=_NO_STORE)

    answer_chat = posted(bodies, served, large, parse_chat_request, chat.answer)
    continue_text = posted(bodies, served, large, parse_completion_request, completions.answer)
    tokens = Tokens(service, compat)
    tokenize = posted(bodies, served, large, parse_tokenize_request, tokens.tokenize)
    detokenize = posted(bodies, served, large, parse_detokenize_request, tokens.detokenize)
    return [
        *openapi_routes(served.vocab_size),
        Route("/tokenize", tokenize, methods=["POST"]),
        Route("/detokenize", detokenize, methods=["POST"]),
        Route("/tokenizer_info", _fixed(tokens.info), methods=["GET"]),
        Route("/props", _fixed(tokens.props), methods=["GET"]),
        Route("/v1/models", models, methods=["GET"]),
        Route("/v1/models/{id:path}", model, methods=["GET"]),
        Route("/v1/chat/completions", answer_chat, methods=["POST"]),
        Route("/v1/completions", continue_text, methods=["POST"]),
        Route("/v1/stats", state.stats, methods=["GET"]),
        Route(
            "/v1/warm",
            posted(bodies, served, large, parse_warm_request, state.warm),
            methods=["POST"],
        ),
        Route(
            "/v1/cache/verify",
            posted(bodies, served, large, parse_verify_request, state.verify),
            methods=["POST"],
        ),
    ]


def _fixed(document: dict[str, Any]) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of what never changes."""

    async def answer(_: Request) -> Response:
        return JSONResponse(document, headers=_NO_STORE)

    return answer
