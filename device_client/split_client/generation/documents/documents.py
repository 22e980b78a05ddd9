"""Has a session take what the server knows of a prompt's parts, and tells where they lie."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from split_client.errors import ServerRefused
from split_client.generation.backend import Backend, CacheLost, StepOutput
from split_client.generation.documents.cutting import Cutter
from split_client.generation.documents.plan import Take, planned
from split_client.generation.editing.moving import Moved, Moving, RowsOf
from split_client.generation.editing.plan import LAST
from split_client.generation.extended import Extended
from split_client.generation.held import Held
from split_client.generation.prefix import common_prefix
from split_wire.documents.chunks import MOST_CHUNKS, SHORTEST, Chunk, Named, chunk_name
from split_wire.errors import InternalError
from split_wire.splice import Kept, blended
from split_wire.tensor import Tensor

# Has the session hold some tokens, computed as any are.
Send = Callable[[list[int]], Extended]


@runtime_checkable
class Finds(Protocol):
    """A backend that may take rows of chunks that are kept. ``chunks``: those of the text that is
    sent, which it is told.
    """

    chunks: tuple[Chunk, ...]

    @property
    def finds(self) -> bool:
        """Whether the open session does."""

    @property
    def blends(self) -> bool:
        """Whether it computes a share of those rows anew, those that differ most."""

    def find(self, wanted: Sequence[Named]) -> tuple[int, ...]:
        """The numbers of those of the ``wanted`` chunks that are kept. Raises CacheLost,
        ServerRefused.
        """

    def splice(
        self,
        start: int,
        spans: tuple[Kept, ...],
        embeddings: NDArray[np.float32],
        blend: float = 0.0,
        sources: bytes = b"",
    ) -> StepOutput:
        """As :meth:`Splices.splice`, with spans of the chunks named ``sources``."""


class Documents(Moving[Finds]):
    """Of the session of ``backend``, whose tokens ``held`` has; ``rows`` gives their rows, None
    where they depend on more than their tokens.

    ``cutter``: finds the chunks, none without one. ``texts``: tokens of those that the next prompt
    has, where some were given apart; ``question``: where what is asked begins in it; both, and
    ``allowed`` and ``blend`` as with :class:`Edits`, may be set at any time.
    """

    def __init__(
        self,
        backend: Backend,
        held: Held,
        rows: RowsOf | None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        able = backend if isinstance(backend, Finds) else None
        super().__init__(backend, able, held, rows, clock)
        self.cutter: Cutter | None = None
        self.texts: Sequence[Sequence[int]] = ()

    def names(self, tokens: list[int]) -> list[bytes]:
        """Those of all chunks of ``tokens``, in the dtype of the session, which is open or was."""
        return [one.name for one in self._named(tokens, self._cut(tokens))]

    def make(self, tokens: list[int], send: Send) -> Moved:
        """Have the session hold a beginning of ``tokens`` with what is known of its chunks, as far
        as it goes on from what is held; ``send`` has it hold what lies between. Raises CacheLost.
        """
        backend = self._backend
        if backend is None or self.cutter is None:
            return Moved()
        backend.chunks, start = (), common_prefix(self._held.tokens, tokens)
        if len(tokens) - start < SHORTEST or not backend.finds:
            return Moved()
        chunks = self._cut(tokens)
        backend.chunks = tuple(chunks)
        try:
            return self._taken(self._planned(tokens, start, chunks), tokens, send)
        except ServerRefused as refused:
            if refused.code == InternalError.code:
                raise CacheLost from refused
            return Moved(refused=1)

    def _cut(self, tokens: list[int]) -> list[Chunk]:
        return [] if self.cutter is None else self.cutter.chunks(tokens, self.texts)

    def _named(self, tokens: list[int], chunks: Sequence[Chunk]) -> list[Named]:
        rows, dtype = self._rows, self._session.dtype
        if rows is None:
            return []
        return [
            Named(each, chunk_name(Tensor.from_f32(rows(tokens, each.start, each.end), dtype)))
            for each in chunks
        ]

    def _planned(self, tokens: list[int], start: int, chunks: Sequence[Chunk]) -> list[Take]:
        backend, limit = self._backend, min(self.question(tokens), len(tokens) - LAST)
        wanted = [each for each in chunks if each.start >= start and each.start < limit]
        if backend is None or not wanted or not self.allowed():
            return []
        named = self._named(tokens, wanted[:MOST_CHUNKS])
        known = [named[number] for number in backend.find(named)]
        most, whole = self._session.max_rows, self._blend > 0
        takes = planned(start, known, limit, most, whole=whole)
        return takes if not takes or takes[-1].end <= self._session.max_context else []

    def _taken(self, takes: Sequence[Take], tokens: list[int], send: Send) -> Moved:
        moved = Moved()
        for take in takes:
            between = None
            if take.start > common_prefix(self._held.tokens, tokens):
                between = send(tokens[: take.start])
            try:
                moved += _plainly(between) + self._carry_out(take, tokens)
            except ServerRefused as refused:
                self._held.keep(tokens[: take.start])
                if refused.code == InternalError.code:
                    raise CacheLost from refused
                return moved + _plainly(between) + Moved(refused=1)
        return moved

    def _carry_out(self, take: Take, tokens: list[int]) -> Moved:
        backend, rows, began = self._backend, self._rows, self._clock()
        if backend is None or rows is None:
            raise RuntimeError("nothing is taken here")
        self._held.cut_back(take.start)
        brought = np.concatenate([rows(tokens, part.start, part.stop) for part in take.parts])
        self._held.begin(take.start, tokens[take.start : take.end], take.spans[0].new)
        blend = self.blend if take.whole else 0.0
        output = backend.splice(take.start, take.spans, brought, blend, take.sources)
        self._held.done()
        anew = blended(take.spans, blend)
        known = take.takes - anew
        return Moved(
            known,
            take.missing + anew,
            self._clock() - began,
            output.compute_us / 1e6,
            output.queue_us / 1e6,
            documents=known,
        )


def _plainly(sent: Extended | None) -> Moved:
    """What rows between those that are known cost."""
    if sent is None:
        return Moved()
    return Moved(0, 0, sent.exchange, sent.compute, sent.queue, plain=sent.rows)
