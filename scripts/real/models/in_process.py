"""One session of the engine in this process, with the times of a network counted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from scripts.bench.round_trips.clock import CountedClock
from scripts.bench.round_trips.network import Network
from scripts.real.models.ours import Middle
from split_client.generation.backend import Rows, StepOutput
from split_server.kv.cache import KVCache
from split_wire.attention import AttentionRequest
from split_wire.tensor import WireDtype

NETWORK = Network(round_trip=0.05)


@dataclass(slots=True)
class InProcess:
    """One session; implements ``generation.backend.Backend``."""

    middle: Middle
    clock: CountedClock
    max_context: int
    max_rows: int = 512
    interactive_rows: int = 16
    dtype: WireDtype = "f32"
    _cache: KVCache = field(default_factory=KVCache)

    def open(self, wanted: Rows | None = None) -> None:
        """There is one session, and it is open."""

    def held(self, wanted: Rows, start: int) -> int:  # noqa: ARG002
        """Nothing was kept."""
        return start

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,  # noqa: ARG002
        adapter: str | None = None,  # noqa: ARG002
        rows: int = 1,
    ) -> StepOutput:
        """Keep ``start`` positions and append the rows; the states after the last ``rows``."""
        sent = len(embeddings)
        states = self.middle.states(torch.from_numpy(embeddings), self._cache, start)
        seconds = NETWORK.exchange(sent, rows)
        self.clock.pass_by(seconds)
        compute = round(1e6 * NETWORK.compute(sent))
        return StepOutput(states[-rows:].numpy(), compute, 0, round(1e6 * seconds))

    def close(self) -> None:
        """Nothing is held elsewhere."""
