"""The forward pass of a :class:`ModelRunner` on a CUDA device."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import torch

from split_server.engine.gpu.addresses import AddressBook, pieces_of
from split_server.engine.gpu.batch import MixedBatch, RowsBatch
from split_server.engine.gpu.graphs import SIZES, DecodeGraphs
from split_server.engine.model.loader import Backbone
from split_server.engine.model.packed import PackedBatch, Slice
from split_server.kv.cache import buffered

_log = logging.getLogger(__name__)


class GpuForward:
    """Passes of ``backbone``: decode passes as graphs, others with the rows of decoding sessions
    attended together. Used by one thread, in inference mode.
    """

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone
        self._layers = backbone.info.num_layers
        config = getattr(backbone.module, "config", None)
        self._windows = getattr(config, "sliding_window", None) is not None
        self._book = AddressBook(self._layers, SIZES[-1], backbone.device)
        self._graphs: DecodeGraphs | None = DecodeGraphs(backbone, self._book)

    def __call__(self, slices: Sequence[Slice]) -> torch.Tensor:
        """The final-norm hidden states [rows, H] of ``slices``; their rows are then cached."""
        with torch.cuda.device(self._backbone.device):
            return self._passed(slices)

    def _passed(self, slices: Sequence[Slice]) -> torch.Tensor:
        together = [part for part in slices if self._decodes(part)][: SIZES[-1]]
        for part in together:
            buffered(part.cache).reserve(part.end)
        if len(together) == len(slices) and self._graphs is not None:
            hidden = self._captured(slices, self._graphs)
        else:
            hidden = self._mixed(slices, together)
        for part in together:
            buffered(part.cache).written(part.end)
        return hidden

    def _decodes(self, part: Slice) -> bool:
        """Whether ``part`` is one row that nobody watches, for a cache that has buffers and hides
        nothing from a window, which counts positions.
        """
        layers = buffered(part.cache).layers
        begun = len(layers) == self._layers and layers[-1].buffers is not None
        whole = not (part.cache.hidden and self._windows)
        return part.rows == 1 and part.tap is None and begun and whole

    def _captured(self, slices: Sequence[Slice], graphs: DecodeGraphs) -> torch.Tensor:
        try:
            return graphs.run(slices)
        except torch.cuda.OutOfMemoryError:
            raise
        # A layer that cannot be captured still computes.
        except RuntimeError as error:
            _log.warning("decoding without CUDA graphs: %s", str(error).partition("\n")[0])
            self._graphs = None
            return self._mixed(slices, slices)

    def _mixed(self, slices: Sequence[Slice], together: Sequence[Slice]) -> torch.Tensor:
        chosen = set(map(id, together))
        rest = [part for part in slices if id(part) not in chosen]
        ordered = [*together, *rest]
        whole = PackedBatch(ordered)
        batch: MixedBatch | RowsBatch = RowsBatch(rest)
        if together:
            caches = [buffered(part.cache) for part in together]
            starts = [part.start for part in together]
            self._book.fill(caches, starts, len(together))
            longest = max(c.own(p.end) for c, p in zip(caches, together, strict=True))
            places = self._book.places(len(together), pieces_of(longest))
            batch = MixedBatch(len(together), places, rest)
        positions = whole.positions(self._backbone.device)
        hidden = self._backbone.hidden(whole.embeddings(), positions, batch)[: whole.rows]
        return _in_order(hidden, ordered, slices)


def _in_order(
    hidden: torch.Tensor, ordered: Sequence[Slice], slices: Sequence[Slice]
) -> torch.Tensor:
    """The rows of ``hidden``, which are those of ``ordered``, in the order of ``slices``."""
    if [*map(id, ordered)] == [*map(id, slices)]:
        return hidden
    states = torch.split(hidden, [part.rows for part in ordered])
    own = dict(zip(map(id, ordered), states, strict=True))
    return torch.cat([own[id(part)] for part in slices])
