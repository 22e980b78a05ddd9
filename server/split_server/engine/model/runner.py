"""One pass of the model over slices of several sessions: truncate, append, hidden states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch

from split_server.engine.model.convert import to_torch, to_wire
from split_server.engine.model.loader import Backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.tap import AttentionTap
from split_server.kv.cache import KVCache
from split_wire.attention import AttentionRequest
from split_wire.tensor import Tensor

Pass: TypeAlias = Callable[[Sequence[Slice]], list[torch.Tensor]]
# The hidden states [rows, H] of all slices, whose rows are then in their caches.
Forward: TypeAlias = Callable[[Sequence[Slice]], torch.Tensor]


def _plainly(slices: Sequence[Slice], run: Pass) -> list[torch.Tensor]:
    return run(slices)


class ModelRunner:
    """Runs on one thread; the only place that touches tensors.

    ``threads``: of one matrix product; 0 takes the backbone's. ``around``: runs each pass, to
    measure it for example; ``forward``: computes it, instead of a packed batch on whatever device
    the backbone is.
    """

    def __init__(
        self,
        backbone: Backbone,
        threads: int = 0,
        around: Callable[[Sequence[Slice], Pass], list[torch.Tensor]] = _plainly,
        forward: Forward | None = None,
    ) -> None:
        self._backbone = backbone
        self._forward = forward
        self._threads = threads or backbone.threads
        self._around = around

    def warm_up(self) -> None:
        """Set up the calling thread and run small passes, of several rows and of one.

        Without it the first user would pay for lazy initialisation. Raises HiddenOverflow when the
        model's hidden states are beyond its dtype.
        """
        torch.set_num_threads(self._threads)
        cache = KVCache()
        for start, count in ((0, 2), (2, 2), (4, 1)):
            rows = torch.zeros(count, self._backbone.info.hidden_size)
            rows = rows.to(self._backbone.device, self._backbone.dtype)
            [hidden] = self.run([Slice(cache, start, rows)])
            to_wire(hidden, self._backbone.info.dtype)

    def load(self, embeddings: Tensor) -> torch.Tensor:
        """Rows of the wire as [n, H] on the model's device in its dtype."""
        return to_torch(embeddings, self._backbone.dtype, self._backbone.device)

    def tap(self, request: AttentionRequest, length: int) -> AttentionTap:
        """Takes the attention of a last position over ``length`` ones, itself included."""
        info = self._backbone.info
        return AttentionTap(request, info.num_layers, info.num_heads, length, self._backbone.device)

    def run(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        """The final-norm hidden states of each slice's rows, [n, H] each.

        The slices are of different sessions. When it fails, every cache holds its slice's ``start``
        positions.
        """
        return self._around(slices, self._pass)

    @torch.inference_mode()
    def _pass(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        for part in slices:
            part.cache.truncate(part.start)
        try:
            hidden = (self._forward or self._backbone.packed)(slices)
        except BaseException:
            for part in slices:
                part.cache.truncate(part.start)
            raise
        for part in slices:
            part.cache.grown_to(part.end)
        return list(torch.split(hidden, [part.rows for part in slices]))
