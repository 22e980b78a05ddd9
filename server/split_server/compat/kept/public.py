"""Prompts that are computed ahead, pinned and found by everybody."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence

from split_client.errors import ClientError
from split_server.compat.backend import EngineBackend
from split_server.compat.kept.pinning import Pinning
from split_server.compat.openai.errors import OpenAIError
from split_server.compat.openai.service import OpenAIService
from split_server.compat.openai.warm_request import WarmRequest
from split_server.compat.sequences import LocalSequence
from split_server.kv.block_key import BLOCK, PUBLIC
from split_server.kv.run_pool import FOR_EVER
from split_server.threads import Threads
from split_wire.errors import ShuttingDown, SplitError

_log = logging.getLogger(__name__)


class PublicPrompts:
    """``prompts`` with the numbers of their lines. Lives on the event loop."""

    def __init__(self, service: OpenAIService, prompts: Sequence[tuple[int, WarmRequest]]) -> None:
        self._service = service
        self._prompts = prompts
        self._ids: dict[int, tuple[int, ...]] = {}
        self._held: dict[int, int] = {}
        # What is wrong with them stays wrong.
        self._hopeless: set[int] = set()
        self._sessions = service.generator.sessions
        self._pinning = Pinning(service.generator.ends, self._sessions)
        self._threads = Threads("warm", 1)
        self._cancelled = threading.Event()

    async def keep(self) -> None:
        """Compute what is not kept, at first everything; what memory was needed for comes back."""
        before = dict(self._held)
        for line, asked in self._prompts:
            if line in self._hopeless:
                continue
            try:
                await self._kept(line, asked)
            except ShuttingDown:
                return
            # What cannot be computed now may be later, and no other prompt waits for it.
            except SplitError as error:
                self._failed(line, error.code)
            except (ClientError, OpenAIError) as error:
                self._failed(line, error.code)
                self._hopeless.add(line)
        if self._held != before:
            held = [count for count in self._held.values() if count]
            _log.info(
                "%d of %d prompts are kept warm for everybody: %d positions",
                len(held),
                len(self._prompts),
                sum(held),
            )

    def close(self) -> None:
        """Give up what is being computed."""
        self._cancelled.set()
        self._threads.close()

    async def _kept(self, line: int, asked: WarmRequest) -> None:
        ids = self._ids.get(line)
        if ids is None:
            ids = self._ids[line] = await self._service.warm_prompt(PUBLIC, asked)
        wanted = self._held.get(line) or len(ids) - len(ids) % BLOCK
        if await self._pinned(ids) < wanted:
            self._pinning.require(PUBLIC, None, len(ids))
            loop = asyncio.get_running_loop()
            await self._threads.run(lambda: self._compute(ids, loop))
        self._held[line] = await self._pinned(ids)

    def _failed(self, line: int, code: str) -> None:
        if self._held.get(line) != 0:
            _log.error("the prompt on line %d is not kept warm: %s", line, code)
        self._held[line] = 0

    async def _pinned(self, ids: tuple[int, ...]) -> int:
        return await self._pinning.pin(PUBLIC, None, ids, FOR_EVER)

    def _compute(self, ids: tuple[int, ...], loop: asyncio.AbstractEventLoop) -> None:
        backend = EngineBackend(self._sessions, loop, PUBLIC, self._cancelled)
        embedder = self._service.generator.ends.embedder
        sequence = LocalSequence(backend, lambda some: embedder.lookup(some, backend.dtype))
        try:
            sequence.cache(list(ids))
        finally:
            sequence.close()
