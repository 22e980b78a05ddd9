"""Jobs of the engine: what it is asked for and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from split_server.engine.model.delta import Delta
from split_server.kv.session_cache import SessionCache
from split_wire.attention import AttentionRequest, AttentionRows
from split_wire.returned import Rows, returned
from split_wire.tensor import Tensor, WireDtype


class SharedRows(Protocol):
    """The rows of a step that other steps of its principal may have sent before, or at the same
    time. On the model thread alone.
    """

    @property
    def blocks(self) -> Sequence[tuple[int, bytes]]:
        """Ends and names of the whole blocks that the step completes, in the order of positions."""

    @property
    def finds(self) -> bool:
        """Whether rows that are known need not be computed."""

    def known(self) -> int:
        """Positions, the step's first rows among them, whose keys and values are kept."""

    def take_in(self, waited_from: int | None) -> int:
        """Have the cache hold what is known; positions that it then holds.

        ``waited_from``: positions that were known before the step waited, None if it did not.
        """

    def give(self, end: int) -> None:
        """Keep the positions up to ``end``, which are computed, for others; raises nothing."""


@dataclass(frozen=True, slots=True)
class StepJob:
    """Keep ``start`` positions of ``cache``, append ``embeddings``; hidden states in ``dtype``.

    ``rows``: which states; a number counts the last ones. ``principal``: whose step it is;
    principals share the model fairly. ``attention``: the rows of the last position that are asked
    for as well. ``adapter``: applied to every row that is returned; the cache does not depend on
    it. ``shared``: what others may have computed of it, None where nothing is kept or found.
    """

    cache: SessionCache
    start: int
    embeddings: Tensor
    rows: Rows
    dtype: WireDtype
    principal: str = ""
    attention: AttentionRequest | None = None
    adapter: Delta | None = None
    shared: SharedRows | None = None

    @property
    def returned(self) -> int:
        """How many states are handed over."""
        return returned(self.rows, self.embeddings.rows)


@dataclass(frozen=True, slots=True)
class EngineResult:
    """``hidden`` [returned, H]; times in microseconds.

    ``compute_us``: of the passes that the step took part in; ``queue_us``: what it waited besides;
    ``reused``: rows that were taken in and not computed.
    """

    hidden: Tensor
    compute_us: int
    queue_us: int
    attention: AttentionRows | None = None
    reused: int = 0


class Abandoned(Exception):
    """Nobody waits for the step any more; its cache holds what it held before."""


Outcome: TypeAlias = EngineResult | Exception
