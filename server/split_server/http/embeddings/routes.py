"""OpenAI's ``/v1/embeddings``, Ollama's ``/api/embed`` and ``/api/embeddings``.

In this mode the text reaches the server: docs/embeddings.md.
"""

from __future__ import annotations

from starlette.routing import BaseRoute, Route

from split_server.compat.embeddings.embedder import Embedder
from split_server.compat.embeddings.request import (
    parse_embeddings_request,
    parse_ollama_embed,
    parse_ollama_embeddings,
)
from split_server.compat.openai.service import OpenAIService
from split_server.http.embeddings.embed import (
    Embeddings,
    ollama_answer,
    ollama_older_answer,
    openai_answer,
)
from split_server.http.ollama.form import INPUT_FORM as OLLAMA_INPUT_FORM
from split_server.http.ollama.form import OLLAMA_FORM
from split_server.http.openai.form import INPUT_FORM
from split_server.http.openai.guard import posted
from split_server.http.wire.body import Bodies
from split_server.http.wire.quota import Quota


def embeddings_routes(
    service: OpenAIService, embedder: Embedder, answers: Quota, bodies: Bodies
) -> list[BaseRoute]:
    """The route of OpenAI's API."""
    served, large = service.served, service.texts.large
    answer = Embeddings(service, embedder, answers, openai_answer(served.name)).answer
    form = lambda: INPUT_FORM  # noqa: E731
    endpoint = posted(bodies, served, large, parse_embeddings_request, answer, form)
    return [Route("/v1/embeddings", endpoint, methods=["POST"])]


def ollama_embedding_routes(
    service: OpenAIService, embedder: Embedder, answers: Quota, bodies: Bodies
) -> list[BaseRoute]:
    """Those of Ollama's API."""
    served, large = service.served, service.texts.large
    form = lambda: OLLAMA_FORM  # noqa: E731
    listed = lambda: OLLAMA_INPUT_FORM  # noqa: E731
    several = Embeddings(service, embedder, answers, ollama_answer).answer
    one = Embeddings(service, embedder, answers, ollama_older_answer).answer
    return [
        Route(
            "/api/embed",
            posted(bodies, served, large, parse_ollama_embed, several, listed),
            methods=["POST"],
        ),
        Route(
            "/api/embeddings",
            posted(bodies, served, large, parse_ollama_embeddings, one, form),
            methods=["POST"],
        ),
    ]
