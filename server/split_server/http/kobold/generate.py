"""``POST /api/v1/generate``: a whole reply in one JSON document."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from split_server.compat.kobold.attention import json_rows
from split_server.compat.kobold.documents import Collected, answer
from split_server.compat.kobold.encoding import encoded
from split_server.compat.kobold.errors import AnswerTooLarge
from split_server.compat.kobold.prompts import Prepared, Prompts
from split_server.compat.kobold.running import Ended, Token
from split_server.engine.model.info import ModelInfo
from split_server.http.kobold.aborts import Aborts
from split_server.http.kobold.answers import LARGE, Posted, packed, refusal, unless_gone
from split_server.security.principal import principal_of

# Of rows in one document: it is in memory several times while it is put together.
MAX_ATTENTION_BYTES = 128 << 20


class Generate:
    """Answers with everything at once, so that its attention is bounded before anything runs."""

    def __init__(self, prompts: Prompts, posted: Posted, info: ModelInfo, aborts: Aborts) -> None:
        self._prompts, self._posted, self._info = prompts, posted, info
        self._aborts = aborts

    async def answer(self, request: Request) -> Response:
        """The reply, or a refusal. Raises ClientDisconnect."""
        try:
            principal = principal_of(request.scope)
            async with self._posted.values(request) as values:
                prepared = await self._prompts.prepare(principal, values)
            self._check_size(prepared)
            work = self._collect(principal, prepared)
            return await packed(request, await unless_gone(request.receive, work))
        except ClientDisconnect:
            raise
        # The boundary of a request: its client is told in the form that it knows.
        except Exception as error:  # noqa: BLE001
            return refusal(error)

    def _check_size(self, prepared: Prepared) -> None:
        """Raises AnswerTooLarge where the longest reply would be."""
        request, info = prepared.request, self._info
        if request.attention is None:
            return
        first = len(prepared.prompt)
        count = min(request.max_tokens, info.max_context - first + 1)
        middle = first + count // 2
        one = request.attention.document_bytes(info.num_layers, info.num_heads, middle)
        size = request.samples * count * one
        if size > MAX_ATTENTION_BYTES:
            raise AnswerTooLarge(size, MAX_ATTENTION_BYTES)

    async def _collect(self, principal: str, prepared: Prepared) -> bytes:
        documents, request = prepared.documents, prepared.request
        samples = [Collected() for _ in range(request.samples)]
        began = time.perf_counter()
        with self._aborts.entered(principal, request.key) as running:
            async with (
                aclosing(self._prompts.run(principal, prepared)) as items,
                aclosing(running.until(items)) as wanted,
            ):
                async for item in wanted:
                    await _add(samples[item.sample], item, prepared)
        seconds = time.perf_counter() - began
        for index, sample in enumerate(samples):
            sample.end = sample.end or Ended(index, "cancelled", len(sample.tokens), seconds)
        if sum(len(rows) for sample in samples for rows in sample.rows) < LARGE:
            return answer(documents, samples)
        return await asyncio.to_thread(answer, documents, samples)


async def _add(sample: Collected, item: Token | Ended, prepared: Prepared) -> None:
    if isinstance(item, Ended):
        sample.end = item
        return
    sample.tokens.append(prepared.documents.facts(item.event))
    options, weights = prepared.request.attention, item.event.attention
    if options is not None and weights is not None:
        sample.rows.append(await encoded(lambda _: json_rows(options, weights), item))
