"""Composition of the routes of all text APIs over one service."""

from __future__ import annotations

from collections.abc import Callable

from starlette.routing import BaseRoute

from split_server.compat.embeddings.embedder import Embedder
from split_server.compat.ollama.descriptions import described
from split_server.compat.openai.service import OpenAIService
from split_server.compat.parts import Compat
from split_server.compat.responses.kept import KeptResponses
from split_server.http.embeddings.embed import ANSWER_BYTES
from split_server.http.embeddings.routes import embeddings_routes, ollama_embedding_routes
from split_server.http.kobold.routes import kobold_routes
from split_server.http.messages.form import MESSAGES_FORM
from split_server.http.messages.routes import messages_routes
from split_server.http.ollama.form import INPUT_FORM as OLLAMA_INPUT_FORM
from split_server.http.ollama.form import OLLAMA_FORM
from split_server.http.ollama.paths import CHAT, GENERATE, SHOW
from split_server.http.ollama.routes import greeting_route, ollama_routes
from split_server.http.openai.form import INPUT_FORM, OPENAI_FORM, Form
from split_server.http.openai.routes import openai_routes
from split_server.http.responses.form import ResponsesForm
from split_server.http.responses.routes import responses_routes
from split_server.http.wire.body import Bodies
from split_server.http.wire.quota import Quota
from split_server.http.wire.sockets import SocketPart

# Posted, with the model's name in the body, and how their errors are written.
_FORMS: dict[str, Callable[[], Form]] = {
    "/v1/chat/completions": lambda: OPENAI_FORM,
    "/v1/completions": lambda: OPENAI_FORM,
    "/v1/embeddings": lambda: INPUT_FORM,
    "/v1/warm": lambda: OPENAI_FORM,
    "/v1/cache/verify": lambda: OPENAI_FORM,
    "/tokenize": lambda: OPENAI_FORM,
    "/detokenize": lambda: OPENAI_FORM,
    "/v1/responses": ResponsesForm,
    "/v1/responses/input_tokens": ResponsesForm,
    "/v1/messages": lambda: MESSAGES_FORM,
    "/v1/messages/count_tokens": lambda: MESSAGES_FORM,
    CHAT: lambda: OLLAMA_FORM,
    GENERATE: lambda: OLLAMA_FORM,
    SHOW: lambda: OLLAMA_FORM,
    "/api/embed": lambda: OLLAMA_INPUT_FORM,
    "/api/embeddings": lambda: OLLAMA_FORM,
}


def form_of(path: str) -> Form | None:
    """How errors of a path are written whose requests name a model; None of any other path."""
    made = _FORMS.get(path)
    return None if made is None else made()


class TextApis:
    """``routes``: of all of them; ``ollama``: of a listener of Ollama's API alone. ``responses``:
    where those are kept that are to be. ``computed``: positions so far.

    ``listed``: the model as OpenAI's API lists it, ``described``: as Ollama's does.

    Raises MalformedCheckpoint where the model cannot be described.
    """

    def __init__(
        self,
        compat: Compat,
        bodies: Bodies,
        sockets: SocketPart,
        computed: Callable[[], int],
        responses: KeptResponses,
    ) -> None:
        self.responses = responses
        self._embedder = Embedder(compat.generator)
        vectors = Quota(ANSWER_BYTES, "bytes of embeddings")
        service = OpenAIService(compat)
        self.listed = service.served.document()
        self.described = described(compat, service.served)
        ollama = [
            *ollama_routes(self.described, service, bodies),
            *ollama_embedding_routes(service, self._embedder, vectors, bodies),
        ]
        self.ollama: list[BaseRoute] = [greeting_route(), *ollama]
        self.routes: list[BaseRoute] = [
            *openai_routes(compat, service, bodies, computed),
            *responses_routes(service, responses, bodies),
            *embeddings_routes(service, self._embedder, vectors, bodies),
            *messages_routes(service, bodies),
            *ollama,
            *kobold_routes(compat, bodies, sockets),
        ]

    def close(self) -> None:
        """Begin nothing more."""
        self._embedder.close()
