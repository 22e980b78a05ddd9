"""``GET /v1/stats``, ``POST /v1/warm``, ``POST /v1/cache/verify``: the server's state, getting it
ready, and whether it may be relied on.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from split_client.generation.loop import Event
from split_client.generation.sampling.params import SamplingParams
from split_server.compat.generator import Generator
from split_server.compat.keeping import Keeping
from split_server.compat.kept.figures import cache_figures
from split_server.compat.kept.pinning import Pinning
from split_server.compat.kept.texts import BUILT_IN
from split_server.compat.kept.verify import LEAST_TOKENS, Verification
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.service import OpenAIService
from split_server.compat.openai.usage import Usage
from split_server.compat.openai.verify_request import VerifyRequest
from split_server.compat.openai.warm_request import WarmRequest
from split_server.compat.request import GenerationRequest
from split_server.compat.time_limit import within
from split_server.http.openai.guard import Asked
from split_server.http.openai.sink import Sink


class State:
    """Counts of generations, and prompts computed ahead. ``computed``: positions so far."""

    def __init__(self, service: OpenAIService, computed: Callable[[], int]) -> None:
        self._service, self._computed = service, computed
        generator = service.generator
        self._pinning = Pinning(generator.ends, generator.sessions)
        self._verification = Verification(generator.ends, generator.sessions)

    async def stats(self, _: Request) -> Response:
        """Counts since the start; tokens are those of generations that have ended."""
        generator = self._service.generator
        counters, places = generator.counters, generator.places
        document: dict[str, Any] = {
            "model": self._service.served.name,
            "generations": {
                "running": places.running,
                "waiting": places.waiting,
                "ended": counters.generations,
            },
            "tokens": {
                "prompt": counters.prompt_tokens,
                "cached": counters.cached_tokens,
                "completion": counters.reply_tokens,
            },
            "drafts": counters.drafts.document(),
            "sessions": {"idle": generator.idle_sequences},
            "cache": cache_figures(generator.sessions.reuse, self._computed()),
            "kernels": dict(self._service.kernels),
        }
        return JSONResponse(document, headers={"Cache-Control": "no-store"})

    async def verify(self, asked: VerifyRequest, who: Asked, sink: Sink) -> None:
        """Check with prompts that what is kept gives what computing gives."""
        service, generator = self._service, self._service.generator
        longest = service.served.max_context - asked.tokens - 1
        if asked.prompts:
            prompts = [await service.warm_prompt(who.principal, one) for one in asked.prompts]
        else:
            # Of a short context as much as fits.
            encode, whose = service.texts.encode, who.principal
            prompts = [
                tuple(await encode(whose, text, special=True))[:longest] for text in BUILT_IN
            ]
        for index, prompt in enumerate(prompts):
            if not LEAST_TOKENS <= len(prompt) <= longest:
                between = f"of {LEAST_TOKENS} to {longest} tokens"
                raise InvalidParameter(f"prompts[{index}]", between)
        who.knows(max(map(len, prompts)))
        await generator.places.take(who.principal)
        try:
            found = await self._verification.run(who.principal, prompts, asked.tokens)
        finally:
            generator.places.leave(who.principal)
        await sink.json({"object": "cache.verification", "model": service.served.name, **found})

    async def warm(self, asked: WarmRequest, who: Asked, sink: Sink) -> None:
        """Compute a prompt, so that a request that begins with it starts at once."""
        service = self._service
        prompt = await service.warm_prompt(who.principal, asked)
        who.knows(len(prompt))
        if asked.pin_seconds:
            self._pinning.require(who.principal, asked.salt, len(prompt))
        usage = Usage([len(prompt)])
        # The one token that is chosen, and never sent, is the cheapest that a reply can be.
        kept = Keeping(asked.salt)
        request = GenerationRequest(prompt, SamplingParams(), max_tokens=1, keeping=kept)
        generator = service.generator
        events = within(_events(generator, who.principal, request), generator.seconds)
        async for event in events:
            usage.count(0, event)
        told = usage.document()["prompt_tokens_details"]["cached_tokens"]
        document = {
            "object": "warm",
            "model": service.served.name,
            "cached_tokens": len(prompt),
            "computed_tokens": len(prompt) - told,
        }
        if asked.pin_seconds:
            pin = (who.principal, asked.salt, prompt, asked.pin_seconds)
            document["pinned_tokens"] = await self._pinning.pin(*pin)
        await sink.json(document)


async def _events(
    generator: Generator, principal: str, request: GenerationRequest
) -> AsyncGenerator[Event, None]:
    async with generator.generate(principal, request) as events:
        async for event in events:
            yield event
