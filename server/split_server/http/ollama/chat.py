"""``POST /api/chat`` and ``/api/generate``."""

from __future__ import annotations

import time
from collections.abc import Callable

from split_server.compat.ollama.answer import Kind, OllamaAnswer
from split_server.compat.ollama.options import RENAMES
from split_server.compat.ollama.request import OllamaRequest
from split_server.compat.openai.chat_request import ChatRequest
from split_server.compat.openai.service import OpenAIService
from split_server.compat.translating.renaming import renamed
from split_server.http.openai.chat import Chat
from split_server.http.openai.completions import Completions
from split_server.http.openai.guard import Asked
from split_server.http.openai.sink import Sink


class OllamaChat:
    """Answers requests of Ollama's API as chats and texts. ``clock``: Unix time in seconds."""

    def __init__(
        self, service: OpenAIService, kind: Kind, clock: Callable[[], float] = time.time
    ) -> None:
        self._chat, self._completions = Chat(service), Completions(service)
        self._kind, self._clock = kind, clock

    async def answer(self, asked: OllamaRequest, who: Asked, sink: Sink) -> None:
        """Raises the errors of the request, of its texts and of its generations."""
        wanted = asked.asked
        scored = wanted is not None and wanted.logprobs is not None
        answer = OllamaAnswer(self._kind, asked.model, scored, self._clock(), self._clock)
        if wanted is None:
            await sink.json(answer.loaded(unload=asked.unload))
            return
        with renamed(RENAMES):
            if isinstance(wanted, ChatRequest):
                await self._chat.run(wanted, who, sink, lambda _: answer)
            else:
                await self._completions.run(wanted, who, sink, lambda _: answer)
