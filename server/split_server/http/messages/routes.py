"""Anthropic's API: messages, and how many tokens they have.

In this mode the text reaches the server: docs/messages-api.md.
"""

from __future__ import annotations

from starlette.routing import BaseRoute, Route

from split_server.compat.messages.answer import MessagesAnswer
from split_server.compat.messages.request import (
    RENAMES,
    MessagesRequest,
    parse_count_request,
    parse_messages_request,
)
from split_server.compat.openai.service import OpenAIService, new_id
from split_server.compat.translating.renaming import renamed
from split_server.http.messages.form import MESSAGES_FORM
from split_server.http.openai.chat import Chat
from split_server.http.openai.guard import Asked, posted
from split_server.http.openai.sink import Sink
from split_server.http.wire.body import Bodies


def messages_routes(service: OpenAIService, bodies: Bodies) -> list[BaseRoute]:
    """The routes below ``/v1/messages``."""
    messages = Messages(service)
    served, large = service.served, service.texts.large
    form = lambda: MESSAGES_FORM  # noqa: E731
    answer = posted(bodies, served, large, parse_messages_request, messages.answer, form)
    count = posted(bodies, served, large, parse_count_request, messages.count, form)
    return [
        Route("/v1/messages", answer, methods=["POST"]),
        Route("/v1/messages/count_tokens", count, methods=["POST"]),
    ]


class Messages:
    """Answers requests of Anthropic's API as chats."""

    def __init__(self, service: OpenAIService) -> None:
        self._service = service
        self._chat = Chat(service)

    async def answer(self, asked: MessagesRequest, who: Asked, sink: Sink) -> None:
        """Raises the errors of the request, of its texts and of its generations."""
        id_, name = new_id("msg_"), self._service.served.name
        with renamed(RENAMES):
            await self._chat.run(
                asked.chat, who, sink, lambda usage: MessagesAnswer(id_, name, usage)
            )

    async def count(self, asked: MessagesRequest, who: Asked, sink: Sink) -> None:
        """Raises the errors of the request and of its texts."""
        chat = asked.chat
        prompt = await self._service.chat_prompt(who.principal, chat.messages, chat.tools)
        who.knows(len(prompt))
        await sink.json({"input_tokens": len(prompt)})
