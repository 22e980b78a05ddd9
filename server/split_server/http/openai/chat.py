"""``POST /v1/chat/completions``."""

from __future__ import annotations

from collections.abc import Callable

from split_client.tools.families import HERMES
from split_client.tools.reading import CallReader, ForcedReader, FreeReader, PlainReader
from split_server.compat.openai.chat_answer import ChatAnswer
from split_server.compat.openai.chat_request import ChatRequest
from split_server.compat.openai.replies import ReplyReader
from split_server.compat.openai.sampling import for_choice
from split_server.compat.openai.service import OpenAIService, new_id
from split_server.compat.openai.tools import MAX_TOOLS, Tools
from split_server.compat.openai.usage import Usage
from split_server.compat.request import GenerationRequest
from split_server.http.openai.generations import Answer, Work
from split_server.http.openai.guard import Asked
from split_server.http.openai.sink import Sink


class Chat:
    """Answers chat requests."""

    def __init__(self, service: OpenAIService) -> None:
        self._service = service

    async def answer(self, asked: ChatRequest, who: Asked, sink: Sink) -> None:
        """Raises the errors of the request, of its texts and of its generations."""
        head, scored = self._service.head("chatcmpl"), asked.logprobs is not None
        answer = ChatAnswer(head, scored, asked.options.include_usage, asked.older)
        await self.run(asked, who, sink, lambda _: answer)

    async def run(
        self, asked: ChatRequest, who: Asked, sink: Sink, encoder: Callable[[Usage], Answer]
    ) -> None:
        """Make the replies, and send them as the ``encoder`` writes them. Raises as above."""
        requests = await self._requests(asked, who)
        options = asked.options
        usage = Usage([who.prompt_tokens], options.choices)
        work = Work(requests, lambda: self._reader(asked), encoder(usage), usage, options.stream)
        await work.run(self._service.generator, who.principal, sink)

    async def _requests(self, asked: ChatRequest, who: Asked) -> list[GenerationRequest]:
        service, options = self._service, asked.options
        prompt = await service.chat_prompt(
            who.principal, asked.messages, asked.tools, asked.writing
        )
        who.knows(len(prompt))
        constraint = await service.constraint(who.principal, asked.form)
        expected = await service.prediction(who.principal, asked.prediction)
        texts = await service.parts(who.principal, asked.parts, options.keeping)
        return [
            GenerationRequest(
                prompt,
                for_choice(options.params, index),
                options.reply_tokens(len(prompt), service.served.max_context),
                stop_tokens=options.stop_tokens,
                ignore_eos=options.ignore_eos,
                min_tokens=options.min_tokens,
                stops=options.stops + _call_stops(asked),
                logprobs=asked.logprobs,
                keeping=options.keeping,
                constraint=constraint,
                expected=expected,
                question=_question(asked),
                texts=texts,
                asked=asked.asked,
            )
            for index in range(options.choices)
        ]

    def _reader(self, asked: ChatRequest) -> ReplyReader:
        return self._service.reader(_call_reader(asked), asked.logprobs is not None, asked.options)


def _question(asked: ChatRequest) -> str:
    """The newest message of the user."""
    said = (each["content"] for each in reversed(asked.messages) if each["role"] == "user")
    return next(said, "")


def _call_reader(asked: ChatRequest) -> CallReader:
    if asked.tools is not None and asked.tools.forced:
        return ForcedReader(lambda: new_id("call_"))
    free = _free_tools(asked)
    if free is None:
        return PlainReader()
    limit = MAX_TOOLS if free.parallel else 1
    return FreeReader(free.names, limit, lambda: new_id("call_"))


def _call_stops(asked: ChatRequest) -> tuple[str, ...]:
    """One call at most: the reply ends with the first."""
    free = _free_tools(asked)
    return (HERMES.close,) if free is not None and not free.parallel else ()


def _free_tools(asked: ChatRequest) -> Tools | None:
    """The tools that the reply may call or not; none where it must be JSON of some form."""
    return asked.tools if asked.form is None else None
