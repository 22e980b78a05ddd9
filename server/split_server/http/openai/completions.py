"""``POST /v1/completions``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from split_client.tools.reading import PlainReader
from split_server.compat.openai.completion_answer import CompletionAnswer
from split_server.compat.openai.completion_request import CompletionRequest
from split_server.compat.openai.prompts.texts import PromptText
from split_server.compat.openai.sampling import for_choice
from split_server.compat.openai.service import OpenAIService
from split_server.compat.openai.token_texts import ScoredToken
from split_server.compat.openai.usage import Usage
from split_server.compat.request import GenerationRequest
from split_server.compat.time_limit import result_within
from split_server.http.openai.generations import Answer, Work
from split_server.http.openai.guard import Asked
from split_server.http.openai.sink import Sink


class Completions:
    """Answers requests to continue texts."""

    def __init__(self, service: OpenAIService) -> None:
        self._service = service

    async def answer(self, asked: CompletionRequest, who: Asked, sink: Sink) -> None:
        """Raises the errors of the request, of its texts and of its generations."""
        head, scored = self._service.head("cmpl"), asked.logprobs is not None
        prefixes = await self._prefixes(asked, who.principal)
        usage = asked.options.include_usage
        await self.run(
            asked, who, sink, lambda told: CompletionAnswer(head, scored, usage, prefixes, told)
        )

    async def run(
        self,
        asked: CompletionRequest,
        who: Asked,
        sink: Sink,
        answer: Callable[[list[tuple[ScoredToken, ...]]], Answer],
    ) -> None:
        """Make the replies, and send them as ``answer`` writes them, which is given the scored
        prompts of each choice. Raises as above.
        """
        service, options = self._service, asked.options
        prompts = [
            await service.plain_prompt(who.principal, prompt, asked.special)
            for prompt in asked.prompts
        ]
        asked.check_scores(sum(map(len, prompts)))
        scored = asked.logprobs is not None
        who.knows(max(len(prompt) for prompt in prompts))
        requests = await self._requests(asked, who, prompts)
        told = await self._scored(asked, who.principal, prompts) if asked.scores_prompts else []
        work = Work(
            requests,
            lambda: service.reader(PlainReader(), scored, options, ended=asked.scores_prompts),
            answer(told),
            Usage([len(prompt) for prompt in prompts], options.choices, computed=bool(told)),
            options.stream,
            choices=len(prompts) * options.choices,
        )
        await work.run(service.generator, who.principal, sink)

    async def _scored(
        self, asked: CompletionRequest, principal: str, prompts: list[tuple[int, ...]]
    ) -> list[tuple[ScoredToken, ...]]:
        """The tokens of the prompt of each choice, with their scores."""
        service, options = self._service, asked.options
        generator, told = service.generator, list[tuple[ScoredToken, ...]]()
        for prompt in prompts:
            scoring = generator.score(principal, prompt, asked.logprobs or 0, options.keeping)
            scores = await result_within(scoring, generator.seconds)
            told += [
                await service.texts.beside(
                    principal, partial(service.scored_prompt, prompt, scores)
                )
            ] * options.choices
        return told

    async def _requests(
        self, asked: CompletionRequest, who: Asked, prompts: list[tuple[int, ...]]
    ) -> list[GenerationRequest]:
        """One for each choice of each prompt, in the order of the answer."""
        options = asked.options
        if not options.max_tokens:
            return []
        constraint = await self._service.constraint(who.principal, asked.form)
        return [
            GenerationRequest(
                prompt,
                for_choice(options.params, index),
                options.reply_tokens(len(prompt), self._service.served.max_context),
                stop_tokens=options.stop_tokens,
                ignore_eos=options.ignore_eos,
                min_tokens=options.min_tokens,
                stops=options.stops,
                logprobs=asked.logprobs,
                keeping=options.keeping,
                constraint=constraint,
            )
            for prompt in prompts
            for index in range(options.choices)
        ]

    async def _prefixes(self, asked: CompletionRequest, principal: str) -> list[str]:
        """The beginning of each choice."""
        prefixes = [await self._prefix(asked, prompt, principal) for prompt in asked.prompts]
        return [prefix for prefix in prefixes for _ in range(asked.options.choices)]

    async def _prefix(self, asked: CompletionRequest, prompt: PromptText, principal: str) -> str:
        """The text of a prompt that is echoed."""
        if not asked.echo:
            return ""
        if isinstance(prompt, str):
            return prompt
        return await self._service.texts.decode(principal, prompt)
