"""Jobs of the engine: what it is asked for and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from split_server.engine.model.delta import Delta
from split_server.kv.cache import KVCache
from split_wire.attention import AttentionRequest, AttentionRows
from split_wire.messages import Rows
from split_wire.tensor import Tensor, WireDtype


@dataclass(frozen=True, slots=True)
class StepJob:
    """Keep ``start`` positions of ``cache``, append ``embeddings``; hidden states in ``dtype``.

    ``principal``: whose step it is; principals share the model fairly. ``attention``: the rows of
    the last position that are asked for as well. ``adapter``: applied to every row that is
    returned; the cache does not depend on it. ``take_in``: called on the model thread before the
    first pass; positions that the cache then holds, the first rows among them, which need no
    computing.
    """

    cache: KVCache
    start: int
    embeddings: Tensor
    rows: Rows
    dtype: WireDtype
    principal: str = ""
    attention: AttentionRequest | None = None
    adapter: Delta | None = None
    take_in: Callable[[], int] | None = None


@dataclass(frozen=True, slots=True)
class EngineResult:
    """``hidden`` [n or 1, H]; times in microseconds.

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
