"""Answers requests for embeddings."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias

from split_server.compat.embeddings.answer import numbers, openai_document
from split_server.compat.embeddings.embedder import Embedder
from split_server.compat.embeddings.pooling import Vector
from split_server.compat.embeddings.request import EmbeddingsRequest
from split_server.compat.openai.prompts.texts import PromptText
from split_server.compat.openai.service import OpenAIService
from split_server.compat.time_limit import within
from split_server.http.openai.form import encoded
from split_server.http.openai.guard import Asked
from split_server.http.openai.sink import Sink
from split_server.http.wire.quota import Quota

_NANOSECONDS = 1e9
# Of answers that one principal may have under way, and of a number written out.
ANSWER_BYTES, _NUMBER_BYTES = 32 << 20, 18


@dataclass(frozen=True, slots=True)
class Made:
    """``tokens``: of all inputs; ``seconds`` from when the request was read."""

    vectors: list[Vector]
    tokens: int
    seconds: float


Document: TypeAlias = Callable[[EmbeddingsRequest, Made], dict[str, Any]]


class Embeddings:
    """``answers``: bytes of them that one principal may have under way; ``document``: what is told
    of the vectors; ``clock`` in seconds.
    """

    def __init__(
        self,
        service: OpenAIService,
        embedder: Embedder,
        answers: Quota,
        document: Document,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._service, self._embedder, self._answers = service, embedder, answers
        self._document, self._clock = document, clock

    async def answer(self, asked: EmbeddingsRequest, who: Asked, sink: Sink) -> None:
        """Raises the errors of the request, of its texts and of its steps, and Overloaded."""
        size = len(asked.inputs) * self._service.served.hidden_size * _NUMBER_BYTES
        with self._answers.hold(who.principal, size):
            await self._answer(asked, who, sink)

    async def _answer(self, asked: EmbeddingsRequest, who: Asked, sink: Sink) -> None:
        begun = self._clock()
        prompts = [await self._ids(text, who, asked.truncate) for text in asked.inputs]
        self._embedder.check(prompts)
        who.knows(max(map(len, prompts), default=0))
        made = self._embedder.vectors(who.principal, prompts, asked.pooling) if prompts else None
        vectors: list[Vector] = []
        if made is not None:
            async with aclosing(within(made, self._service.generator.seconds)) as arriving:
                vectors = [vector async for vector in arriving]
        told = Made(vectors, sum(map(len, prompts)), self._clock() - begun)
        # A million numbers take a second to write.
        body = await self._service.texts.beside(
            who.principal, lambda: encoded(self._document(asked, told))
        )
        await sink.encoded(body)

    async def _ids(self, text: PromptText, who: Asked, truncate: bool) -> tuple[int, ...]:
        service = self._service
        if not truncate or not isinstance(text, str):
            return await service.plain_prompt(who.principal, text)
        ids, limit = list[int](), service.served.max_context
        async for piece in service.texts.pieces(who.principal, text, special=True):
            ids += piece
            if len(ids) >= limit:
                break
        return tuple(ids[:limit])


def openai_answer(model: str) -> Document:
    """Of ``/v1/embeddings``."""

    def document(asked: EmbeddingsRequest, made: Made) -> dict[str, Any]:
        return openai_document(model, made.vectors, made.tokens, asked.pooling, binary=asked.binary)

    return document


def ollama_answer(asked: EmbeddingsRequest, made: Made) -> dict[str, Any]:
    """Of ``/api/embed``."""
    return {
        "model": asked.model,
        "embeddings": [numbers(vector) for vector in made.vectors],
        "total_duration": round(made.seconds * _NANOSECONDS),
        "load_duration": 0,
        "prompt_eval_count": made.tokens,
        "pooling": asked.pooling,
        "normalized": True,
    }


def ollama_older_answer(_: EmbeddingsRequest, made: Made) -> dict[str, Any]:
    """Of ``/api/embeddings``."""
    return {"embedding": numbers(made.vectors[0]) if made.vectors else []}
