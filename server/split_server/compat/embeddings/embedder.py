"""Vectors of texts, computed beside the engine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from functools import partial

from split_client.errors import PromptEmpty, PromptTooLong
from split_server.compat.backend import EngineBackend
from split_server.compat.embeddings.pooling import Pooled, Vector
from split_server.compat.embeddings.request import Pooling
from split_server.compat.generator import Generator
from split_server.threads import Threads

# States that are in memory at a time.
_ROWS = 256
_THREADS = 16


class Embedder:
    """Vectors for all principals, each in a place as of a generation. Lives on the event loop."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._threads = Threads("embeddings", _THREADS)

    def check(self, prompts: Sequence[Sequence[int]]) -> None:
        """Raises PromptEmpty, PromptTooLong, TokenIdOutOfRange."""
        most = self._generator.info.max_context
        for ids in prompts:
            if not ids:
                raise PromptEmpty
            if len(ids) > most:
                raise PromptTooLong(len(ids), most)
            self._generator.ends.head.rows.check_ids(tuple(ids))

    async def vectors(
        self, principal: str, prompts: Sequence[Sequence[int]], pooling: Pooling
    ) -> AsyncGenerator[Vector, None]:
        """One [H] for each of ``prompts``, in order; leaving gives up what is under way.

        Nothing of them is kept or found. Raises Overloaded, CacheFull, TooManySessions,
        ShuttingDown and what steps raise.
        """
        await self._generator.places.take(principal)
        cancelled = threading.Event()
        loop, sessions = asyncio.get_running_loop(), self._generator.sessions
        backend = EngineBackend(sessions, loop, principal, cancelled, reuse="off")

        def leave(work: asyncio.Future[Vector] | None = None) -> None:
            if work is not None and not work.cancelled():
                # Whoever would have been told has left.
                work.exception()
            backend.close()
            self._generator.places.leave(principal)

        work: asyncio.Future[Vector] | None = None
        try:
            for ids in prompts:
                made = partial(self._vector, backend, ids, pooling)
                work = asyncio.ensure_future(self._threads.run(made))
                yield await asyncio.shield(work)
        finally:
            cancelled.set()
            if work is None or work.done():
                leave()
            else:
                # The place is taken for as long as a step of it may run.
                work.add_done_callback(leave)

    def close(self) -> None:
        """Begin nothing more."""
        self._threads.close()

    def _vector(self, backend: EngineBackend, ids: Sequence[int], pooling: Pooling) -> Vector:
        embedder = self._generator.ends.embedder
        pooled = Pooled(pooling, self._generator.info.hidden_size)
        size = min(_ROWS, backend.max_rows)
        for start in range(0, len(ids), size):
            rows = embedder.lookup(list(ids[start : start + size]), backend.dtype)
            output = backend.step(start, rows, rows=len(rows) if pooling == "mean" else 1)
            pooled.add(output.hidden)
        return pooled.vector()
