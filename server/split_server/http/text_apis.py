"""Composition of the routes of all text APIs over one service."""

from __future__ import annotations

from collections.abc import Callable

from starlette.routing import BaseRoute

from split_server.compat.embeddings.embedder import Embedder
from split_server.compat.openai.service import OpenAIService
from split_server.compat.parts import Compat
from split_server.compat.responses.kept import KeptResponses
from split_server.http.embeddings.embed import ANSWER_BYTES
from split_server.http.embeddings.routes import embeddings_routes, ollama_embedding_routes
from split_server.http.kobold.routes import kobold_routes
from split_server.http.messages.routes import messages_routes
from split_server.http.ollama.routes import greeting_route, ollama_routes
from split_server.http.openai.routes import openai_routes
from split_server.http.responses.routes import responses_routes
from split_server.http.wire.body import Bodies
from split_server.http.wire.quota import Quota
from split_server.http.wire.sockets import Sockets


class TextApis:
    """``routes``: of all of them; ``ollama``: of a listener of Ollama's API alone. ``responses``:
    those that are kept. ``computed``: positions so far.

    Raises MalformedCheckpoint where the model cannot be described.
    """

    def __init__(
        self, compat: Compat, bodies: Bodies, sockets: Sockets, computed: Callable[[], int]
    ) -> None:
        self.responses = KeptResponses()
        self._embedder = Embedder(compat.generator)
        vectors = Quota(ANSWER_BYTES, "bytes of embeddings")
        service = OpenAIService(compat)
        ollama = [
            *ollama_routes(compat, service, bodies),
            *ollama_embedding_routes(service, self._embedder, vectors, bodies),
        ]
        self.ollama: list[BaseRoute] = [greeting_route(), *ollama]
        self.routes: list[BaseRoute] = [
            *openai_routes(compat, service, bodies, computed),
            *responses_routes(service, self.responses, bodies),
            *embeddings_routes(service, self._embedder, vectors, bodies),
            *messages_routes(service, bodies),
            *ollama,
            *kobold_routes(compat, bodies, sockets),
        ]

    def close(self) -> None:
        """Begin nothing more."""
        self._embedder.close()
