"""What the engine asks of whatever computes passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from split_server.engine.model.packed import Slice
from split_server.engine.model.tap import AttentionTap
from split_wire.attention import AttentionRequest
from split_wire.tensor import Tensor


class Runner(Protocol):
    """Runs on one thread at a time; the only place that touches the model."""

    def warm_up(self) -> None:
        """Set up the calling thread and run small passes. Raises HiddenOverflow when the model's
        hidden states are beyond its dtype.
        """

    def load(self, embeddings: Tensor) -> torch.Tensor:
        """Rows of the wire as [n, H], as :meth:`run` takes them."""

    def tap(self, request: AttentionRequest, length: int) -> AttentionTap:
        """Takes the attention of a last position over ``length`` ones, itself included."""

    def run(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        """The final-norm hidden states of each slice's rows, [n, H] each.

        The slices are of different sessions. When it fails, every cache holds its slice's ``start``
        positions.
        """
