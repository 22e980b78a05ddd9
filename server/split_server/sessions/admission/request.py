"""One step as whatever carries it asks for it."""

from __future__ import annotations

from dataclasses import dataclass

from split_server.kv.lineage import Moved
from split_wire.attention import AttentionRequest
from split_wire.documents.chunks import Named
from split_wire.returned import Rows, returned
from split_wire.splice import Kept, before, end_of
from split_wire.tensor import Tensor


@dataclass(frozen=True, slots=True)
class StepRequest:
    """Keep ``start`` positions, append ``embeddings`` [n, H]; hidden states of ``rows``.

    ``digests``: the chain after each row, None where the session's protocol state keeps the chain;
    ``names``: the same, for whatever keeps it, None where nothing is kept or found by them;
    ``copies``: how often the attention asked for, or many states, may be held at once; ``aside``:
    bytes that the step needs besides as long as it is under way; ``chunks``: those of the text that
    end in its rows.
    """

    start: int
    embeddings: Tensor
    digests: list[bytes] | None = None
    rows: Rows = "last"
    attention: AttentionRequest | None = None
    copies: int = 1
    adapter: str | None = None
    names: list[bytes] | None = None
    aside: int = 0
    chunks: tuple[Named, ...] = ()

    @property
    def end(self) -> int:
        """Positions that the cache holds afterwards."""
        return self.start + self.embeddings.rows

    @property
    def returned(self) -> int:
        """How many hidden states are answered."""
        return returned(self.rows, self.embeddings.rows)

    def guessed(self, interactive_rows: int) -> int:
        """How many of the last rows may be a draft: those that are answered beside the first, as
        many as are decoded at a time.
        """
        return min(self.returned, interactive_rows) - 1


@dataclass(frozen=True, slots=True)
class SpliceRequest:
    """Keep ``start`` positions, and ``spans`` at their new places; ``rows`` come between them and
    behind. With a ``blend`` they are those of all positions behind ``start`` up to :attr:`reach`,
    and that share of the rows of spans up to there is computed anew. ``sources``: the names of the
    chunks that have the rows of the spans, empty where the session has them; ``chunks``: those that
    end in rows that it brings.
    """

    start: int
    spans: tuple[Kept, ...]
    rows: Tensor
    blend: float = 0.0
    sources: bytes = b""
    chunks: tuple[Named, ...] = ()

    @property
    def way(self) -> Moved:
        """How its rows come to where they were not computed."""
        if self.sources:
            return "documents"
        return "blended" if self.blend else "moved"

    @property
    def end(self) -> int:
        """Positions that the cache holds afterwards."""
        return end_of(self.start, self.spans, self.rows.rows, self.blend)

    @property
    def reach(self) -> int:
        """Where the rows end that a ``blend`` is of."""
        return self.start + self.rows.rows

    @property
    def blended(self) -> tuple[Kept, ...]:
        """The spans a share of which is computed anew."""
        return before(self.spans, self.reach) if self.blend else ()

    @property
    def missing(self) -> int:
        """Rows between the spans and behind them."""
        return self.rows.rows - sum(span.rows for span in self.blended)

    def step(self, aside: int) -> StepRequest:
        """What it is counted in as; ``aside``: bytes that it needs besides."""
        return StepRequest(self.end - self.rows.rows, self.rows, aside=aside)
