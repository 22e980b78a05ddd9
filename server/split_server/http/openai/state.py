"""``GET /v1/stats`` and ``POST /v1/warm``: the server's state, and getting it ready."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from split_client.generation.sampling.params import SamplingParams
from split_server.compat.kept.pinning import Pinning
from split_server.compat.openai.service import OpenAIService
from split_server.compat.openai.usage import Usage
from split_server.compat.openai.warm_request import WarmRequest
from split_server.compat.request import GenerationRequest
from split_server.http.openai.guard import Asked
from split_server.http.openai.sink import Sink


class State:
    """Counts of generations, and prompts computed ahead."""

    def __init__(self, service: OpenAIService) -> None:
        self._service = service
        generator = service.generator
        self._pinning = Pinning(generator.ends, generator.sessions)

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
            "sessions": {"idle": generator.idle_sequences},
        }
        return JSONResponse(document, headers={"Cache-Control": "no-store"})

    async def warm(self, asked: WarmRequest, who: Asked, sink: Sink) -> None:
        """Compute a prompt, so that a request that begins with it starts at once."""
        service = self._service
        prompt = await service.warm_prompt(who.principal, asked)
        who.knows(len(prompt))
        if asked.pin_seconds:
            self._pinning.require(who.principal, asked.salt, len(prompt))
        usage = Usage([len(prompt)])
        # The one token that is chosen, and never sent, is the cheapest that a reply can be.
        request = GenerationRequest(prompt, SamplingParams(), max_tokens=1, cache_salt=asked.salt)
        async with service.generator.generate(who.principal, request) as events:
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
