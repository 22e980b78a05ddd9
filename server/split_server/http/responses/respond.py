"""``POST /v1/responses`` and ``/v1/responses/input_tokens``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from split_server.compat.openai.errors import UnsupportedParameter
from split_server.compat.openai.service import OpenAIService, new_id
from split_server.compat.responses.answer import Finish, ResponsesAnswer
from split_server.compat.responses.documents import ResponseHead, new_response_id
from split_server.compat.responses.items import Message
from split_server.compat.responses.kept import (
    KeptResponse,
    KeptResponses,
    PreviousNotFound,
)
from split_server.compat.responses.request import RENAMES, ResponsesRequest
from split_server.compat.translating.renaming import renamed
from split_server.http.openai.chat import Chat
from split_server.http.openai.guard import Asked
from split_server.http.openai.sink import Sink
from split_server.http.responses.form import ResponsesForm
from split_server.security.principal import ANONYMOUS


@dataclass(frozen=True, slots=True)
class _Input:
    """JSON of the items of a request and of the messages of its chat, without the last bracket."""

    items: bytes
    messages: bytes


class Responses:
    """Answers requests of the Responses API as chats. ``clock``: Unix time in seconds."""

    def __init__(
        self,
        service: OpenAIService,
        kept: KeptResponses,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._service, self._kept, self._clock = service, kept, clock
        self._chat = Chat(service)

    async def answer(self, asked: ResponsesRequest, who: Asked, sink: Sink) -> None:
        """Raises the errors of the request, of its texts and of its generations."""
        history = await self._history(asked, who)
        given = await self._encoded(asked, history, who) if asked.store else None
        head = ResponseHead(
            new_response_id(),
            int(self._clock()),
            self._service.served.name,
            asked.store,
            asked.echo,
        )
        finish = self._finish(who.principal, head.id, given)
        answer = ResponsesAnswer(head, finish, self._clock)
        cast("ResponsesForm", sink.form).answer = answer
        with renamed(RENAMES):
            await self._chat.run(asked.after(history), who, sink, lambda _: answer)

    async def count(self, asked: ResponsesRequest, who: Asked, sink: Sink) -> None:
        """How many tokens the input has. Raises the errors of the request and of its texts."""
        chat = asked.after(await self._history(asked, who))
        prompt = await self._service.chat_prompt(who.principal, chat.messages, chat.tools)
        who.knows(len(prompt))
        await sink.json({"object": "response.input_tokens", "input_tokens": len(prompt)})

    async def _history(self, asked: ResponsesRequest, who: Asked) -> list[Message]:
        """What was said before. Raises UnsupportedParameter, PreviousNotFound."""
        keeping = "store" if asked.store else "previous_response_id"
        if (asked.store or asked.previous is not None) and who.principal == ANONYMOUS:
            raise UnsupportedParameter(
                keeping, "without tokens (--no-auth) anybody could read what is kept"
            )
        if asked.previous is None:
            return []
        before = self._kept.find(who.principal, asked.previous)
        if before is None:
            raise PreviousNotFound
        read: Callable[[], list[Message]] = lambda: json.loads(before.messages)  # noqa: E731
        return await self._service.texts.beside(who.principal, read)

    async def _encoded(self, asked: ResponsesRequest, history: list[Message], who: Asked) -> _Input:
        """What is kept of a request, but for its instructions, which are its own alone. Raises
        ResponseTooLarge.
        """
        messages = [*history, *asked.chat.messages]
        items = [item | {"id": item.get("id") or new_id("item_")} for item in asked.items]

        def work() -> _Input:
            return _Input(_dumped(items), _dumped(messages)[:-1])

        given = await self._service.texts.beside(who.principal, work)
        self._kept.require(len(given.items) + len(given.messages) + len(_dumped(asked.echo)))
        return given

    def _finish(self, principal: str, id_: str, given: _Input | None) -> Finish:
        def finish(document: dict[str, Any]) -> None:
            if given is None:
                return
            reply = _dumped(_said(document["output"]))
            messages = b"".join((given.messages, b", " if given.messages[1:] else b"", reply, b"]"))
            kept = KeptResponse(_dumped(document), given.items, messages)
            document["store"] = self._kept.keep(principal, id_, kept)

        return finish


def _said(output: list[dict[str, Any]]) -> Message:
    """The items of an output as one message of a chat."""
    texts = [
        part["text"] for item in output if item["type"] == "message" for part in item["content"]
    ]
    calls = [
        {
            "id": item["call_id"],
            "type": "function",
            "function": {"name": item["name"], "arguments": json.loads(item["arguments"])},
        }
        for item in output
        if item["type"] == "function_call"
    ]
    message: Message = {"role": "assistant", "content": "\n".join(texts)}
    return message | ({"tool_calls": calls} if calls else {})


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
