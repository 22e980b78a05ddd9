"""A device client (``split_client.api``) whose network can break in the middle of a reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from scripts.bench.clients.prompts import Prompt
from scripts.bench.clients.speaker import SILENCE_SECONDS, ReplyFailed
from scripts.bench.hop import Hop
from split_client.api import ChatSession, SamplingParams, SplitClient
from split_client.errors import ClientError
from split_client.transport.channel import Patience
from split_wire.errors import SplitError

_T = TypeVar("_T")
_GREEDY = SamplingParams(temperature=0.0, seed=0)


class SplitSpeaker:
    """Every reply has a session of its own; one that is left early stays behind on the server."""

    def __init__(self, url: str, cache: Path) -> None:
        self._hop = Hop(url)
        self._cache = cache
        # The client is synchronous and belongs to one thread.
        self._thread = ThreadPoolExecutor(1)
        self._client: SplitClient | None = None

    async def open(self) -> None:
        """Pull or find the ends, and open them."""
        await self._hop.open()
        patience = Patience(exchange=SILENCE_SECONDS, total=SILENCE_SECONDS)
        self._client = SplitClient(
            self._hop.url, cache=self._cache, patience=patience, drafts="off"
        )
        await self._on_thread(self._client.connect)

    async def ids(self, messages: Sequence[dict[str, str]]) -> list[int]:
        """The ids that the model's template makes of a chat."""
        return await self._on_thread(lambda: self._chat(messages).conversation.prompt().ids)

    async def reply(self, prompt: Prompt, max_tokens: int) -> AsyncGenerator[str, None]:
        """Texts of the events. Raises ReplyFailed."""
        ended = False
        try:
            chat = await self._on_thread(lambda: self._chat(prompt.messages))
            texts = await self._on_thread(lambda: _texts(chat, max_tokens))
            while (text := await self._on_thread(lambda: next(texts, None))) is not None:
                if text:
                    yield text
            await self._on_thread(chat.close)
            ended = True
        except (ClientError, SplitError) as error:
            raise ReplyFailed(error.code, str(error)) from error
        finally:
            if not ended:
                self._hop.cut()

    async def close(self) -> None:
        """End the connection in order."""
        if self._client is not None:
            await self._on_thread(self._client.close)
        await self._hop.close()
        self._thread.shutdown()

    def _chat(self, messages: Sequence[dict[str, str]]) -> ChatSession:
        assert self._client is not None
        system, user = messages
        chat = self._client.conversation(system["content"])
        chat.conversation.say(user["content"])
        return chat

    async def _on_thread(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _texts(chat: ChatSession, max_tokens: int) -> Iterator[str]:
    chat.params, chat.max_tokens = _GREEDY, max_tokens
    return (event.text for event in chat.answer().events())
