"""The decode loop's backend without a network: a device client that lives beside the engine.

Whoever runs the loop here holds the text; nothing is split between two machines.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.generation.backend import StepOutput
from split_server.engine.engine import Engine
from split_server.engine.job import EngineResult, StepJob
from split_server.kv.cache import KVCache
from split_wire.attention import AttentionRequest, AttentionWeights
from split_wire.attention_check import checked_weights
from split_wire.errors import ContextOverflow, StartBeyondCache
from split_wire.messages import DEFAULT_MAX_ROWS
from split_wire.tensor import Tensor, WireDtype


class EngineBackend:
    """One session on an engine of the same process; implements ``generation.backend.Backend``."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._cache = KVCache()

    @property
    def max_rows(self) -> int:
        """Rows that one step may carry."""
        return DEFAULT_MAX_ROWS

    @property
    def max_context(self) -> int:
        """Positions that the session may hold."""
        return self._engine.info.max_context

    @property
    def dtype(self) -> WireDtype:
        """The engine's compute dtype."""
        return self._engine.info.dtype

    def open(self) -> None:
        """The cache exists from the start; there is nothing to do."""

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
    ) -> StepOutput:
        """Keep ``start`` positions, append ``embeddings`` [n, H].

        Raises StartBeyondCache, ContextOverflow, Overloaded, ShuttingDown, NonFinite and
        HiddenOverflow.
        """
        if start > len(self._cache):
            raise StartBeyondCache(start, len(self._cache))
        if start + len(embeddings) > self.max_context:
            raise ContextOverflow(start + len(embeddings), self.max_context)
        rows = Tensor.from_f32(embeddings, self.dtype)
        job = StepJob(self._cache, start, rows, "last", self.dtype, attention=attention)
        result = self._engine.submit(job).result()
        hidden = result.hidden.to_f32()[0]
        return StepOutput(
            hidden,
            result.compute_us,
            result.queue_us,
            attention=self._weights(result, attention),
        )

    def _weights(
        self, result: EngineResult, asked: AttentionRequest | None
    ) -> AttentionWeights | None:
        if asked is None:
            return None
        info, rows = self._engine.info, result.attention
        return checked_weights(rows, asked, info.num_layers, info.num_heads, len(self._cache))

    def close(self) -> None:
        """Free the cache."""
        self._cache = KVCache()
