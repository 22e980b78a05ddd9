"""Chunks of texts, kept by what they say: published where they are computed, found behind any.

A chunk is a run without one that it follows, under a name that its rows alone give it. It counts,
ages and goes as any run does, but is never written to disk, and its name is no block's: only
sessions that take what is approximate look for it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from split_server.kv.block_key import PUBLIC, BlockNames
from split_server.kv.cache import buffered
from split_server.kv.copying import copied_bytes
from split_server.kv.run import Run, Span
from split_server.kv.run_pool import RunPool
from split_server.sessions.keeping.copies import Copies, chunk_run, quantised
from split_server.sessions.keeping.naming import Naming
from split_server.sessions.session import Session
from split_wire.digest import DIGEST_BYTES
from split_wire.documents.chunks import Named, names_of
from split_wire.errors import ChunkGone
from split_wire.splice import Kept

# A position that nobody shares.
_FAR = 1 << 62
_log = logging.getLogger(__name__)


class Chunks:
    """``pool`` has them, ``naming`` says for whom nothing is kept, and what is added is added as
    ``copies`` are.
    """

    def __init__(self, pool: RunPool, naming: Naming, copies: Copies) -> None:
        self._pool, self._naming, self._copies = pool, naming, copies

    def known(self, session: Session, wanted: Sequence[Named]) -> tuple[int, ...]:
        """The numbers of those that ``session`` finds. From any thread.

        Who asks is about to take them, so that they count as used: what makes way meanwhile is
        something else.
        """
        return tuple(
            number
            for number, one in enumerate(wanted)
            if (own := self._found(session, one.chunk.end, one.name, one.chunk.rows)) is not None
            and self._pool.use(own)
        )

    def publish(self, session: Session, chunks: Sequence[Named]) -> None:
        """Keep ``chunks``, the rows of which ``session`` has computed where they lie now. On a
        thread that may read its cache; raises nothing.
        """
        names, cache = session.names, buffered(session.cache)
        if names is None or session.withheld or self._naming.stopped(names.owner):
            return
        # What was computed while something was hidden says less than the text.
        if cache.hidden or cache.lineage.nameless or session.takes != "approximate":
            return
        for one in chunks:
            if one.chunk.end <= cache.length and not self._kept(session, names, one):
                return

    def hold(self, session: Session, spans: Sequence[Kept], sources: bytes) -> list[Span]:
        """The chunks that ``spans`` are of, which stay until :meth:`let_go`; ``session`` remembers
        them. Raises ChunkGone where one is not kept.
        """
        held = list[Span]()
        for span, name in zip(spans, names_of(sources), strict=True):
            found = self._found(session, span.new + span.rows, name, span.old + span.rows)
            one = [] if found is None else self._pool.hold([found])
            if found is None or not one:
                self.let_go(held)
                raise ChunkGone
            held += one
        session.traces.add_chunks(one.run.names[one.end] for one in held)
        return held

    def let_go(self, held: Sequence[Span]) -> None:
        """They are not read any more."""
        self._pool.let_go(held)

    def size(self, session: Session, spans: Sequence[Kept], sources: bytes) -> int:
        """Bytes of a copy of ``spans`` as a cache has them. Raises ChunkGone."""
        size = 0
        held = self.hold(session, spans, sources)
        for span, one in zip(spans, held, strict=True):
            shapes = (layer.shape for layer in one.run.layers)
            values = sum(2 * shape[1] * shape[3] for shape in shapes)
            size += span.rows * values * one.run.dtype.itemsize
        self.let_go(held)
        return size

    def drop(self, session: Session) -> None:
        """Have what ``session`` took in found no more."""
        wanted = {*session.traces.chunk_names()}
        self._pool.discard([run for name in wanted if (run := self._pool.find(name)) is not None])

    def names(self, session: Session, packed: bytes) -> list[bytes]:
        """All names that ``session`` may have kept the chunks of these names under."""
        given = session.names
        if given is None:
            return []
        either = {given.part(0), given.part(_FAR)}
        return [names.chunk(name) for name in names_of(packed) for names in either]

    def _found(self, session: Session, end: int, name: bytes, rows: int) -> bytes | None:
        """The name under which ``session`` finds at least so many ``rows`` that end with position
        ``end``.
        """
        if session.takes != "approximate":
            return None
        for finds in session.finds:
            if finds.owner == PUBLIC or self._naming.stopped(finds.owner):
                continue
            # Without a group both are the same.
            for names in dict.fromkeys((finds.part(end), finds.part(_FAR))):
                own = names.chunk(name)
                run = self._pool.find(own)
                if run is not None and rows <= run.end - run.start:
                    return own
        return None

    def _kept(self, session: Session, names: BlockNames, one: Named) -> bool:
        """Whether the next chunk may be kept as well; this one is, if there is room."""
        own = names.part(one.chunk.end).in_tier("approximate")
        name = own.chunk(one.name)
        session.traces.add_chunks([name])
        if self._pool.knows(name):
            return True
        start, end = one.chunk.start, one.chunk.end
        cache, coded = buffered(session.cache), quantised(session, own)
        size = copied_bytes(cache, start, end, quantised=coded) + DIGEST_BYTES * one.chunk.rows
        if not self._pool.room_for(own.owner, size, None):
            return False
        try:
            return self._added(session, chunk_run(session, own, start, end, name))
        # Memory that is not there; a chat goes on without what would be kept.
        except (RuntimeError, MemoryError, OSError) as error:
            _log.warning("keys and values were not kept: %s", type(error).__name__)
            return False

    def _added(self, session: Session, run: Run) -> bool:
        with self._copies.adding:
            return not session.withheld and session.names is not None and self._pool.add(run)
