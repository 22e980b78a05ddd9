"""From the fields of a request to token ids that the model can continue, checked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

from split_server.compat.grammars.grammars import MakeConstraint
from split_server.compat.kobold.documents import Documents
from split_server.compat.kobold.pruning import Pruning
from split_server.compat.kobold.request import MAX_NAME, Defaults, KoboldRequest, kobold_request
from split_server.compat.kobold.running import Item, replies
from split_server.compat.parts import Compat
from split_server.compat.time_limit import within


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request whose prompt is known and passes every check that needs no computing."""

    request: KoboldRequest
    prompt: tuple[int, ...]
    documents: Documents
    constraint: MakeConstraint | None


class Prompts:
    """``attention`` and ``logprobs``: what an endpoint sends where a request does not say."""

    def __init__(
        self, compat: Compat, *, attention: bool = False, logprobs: int | None = None
    ) -> None:
        self._compat = compat
        self._defaults = Defaults(compat.generator.ends.defaults, attention, logprobs)

    async def prepare(self, principal: str, values: Mapping[str, Any]) -> Prepared:
        """Parse, encode and check.

        Raises KoboldError, TextTooCostly, GrammarInvalid, Overloaded and what ``Generator.check``
        raises.
        """
        compat = self._compat
        request = kobold_request(values, compat.generator.info, self._defaults)
        prompt = request.prompt
        if isinstance(prompt, str):
            limit = compat.generator.info.max_context
            prompt = tuple(
                await compat.texts.prompt(principal, prompt, limit, special=request.special)
            )
        compat.generator.check(request.generation(prompt, 0))
        form, grammars = request.form, compat.grammars
        constraint = None if form is None else await grammars.maker(principal, form)
        tokenizer, pruning = compat.generator.ends.tokenizer, None
        if request.looks is not None:
            # The pieces of a long prompt take a while.
            pruning = await asyncio.to_thread(Pruning.of, tokenizer, prompt)
        documents = Documents(request, tokenizer, pruning)
        return Prepared(request, prompt, documents, constraint)

    def run(self, principal: str, prepared: Prepared) -> AsyncGenerator[Item, None]:
        """Everything of the reply. Raises what ``Generator.generate`` raises, TimeLimit."""
        generator = self._compat.generator
        items = replies(
            generator, principal, prepared.request, prepared.prompt, prepared.constraint
        )
        return within(items, generator.seconds)


def request_name(values: Mapping[str, Any]) -> str | None:
    """The ``request_id`` of a request that may be malformed elsewhere."""
    name = values.get("request_id")
    return name if isinstance(name, str) and len(name) <= MAX_NAME else None
