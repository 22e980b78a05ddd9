"""Attention of passes in which the sessions with one new row are attended together."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from split_server.engine.gpu.decode_kernel import Places, attend_each
from split_server.engine.gpu.rows_attention import attend_rows
from split_server.engine.model.packed import PackedBatch, Slice


class DecodeBatch:
    """Of a pass in which every row is another session's; nothing of it needs the host."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        scaling: float,
        window: int | None,
        softcap: float | None,
    ) -> torch.Tensor:
        """As :meth:`Attends.attend`."""
        return attend_each(query, keys, values, self._places, layer, scaling, window, softcap)


class RowsBatch(PackedBatch):
    """Of slices with several rows, and of single rows whose attention is watched."""

    _many = staticmethod(attend_rows)


class MixedBatch:
    """Of a pass whose first rows are those of ``together`` sessions, found through ``places``, and
    whose others are those of ``rest``.
    """

    def __init__(self, together: int, places: Places, rest: Sequence[Slice]) -> None:
        self._together = together
        self._decode = DecodeBatch(places)
        self._rest = RowsBatch(rest)

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        scaling: float,
        window: int | None,
        softcap: float | None,
    ) -> torch.Tensor:
        """As :meth:`Attends.attend`."""
        count, parameters = self._together, (scaling, window, softcap)
        q, k, v = (x[:, :, :count] for x in (query, keys, values))
        first = self._decode.attend(layer, q, k, v, *parameters)
        q, k, v = (x[:, :, count:] for x in (query, keys, values))
        return torch.cat([first, self._rest.attend(layer, q, k, v, *parameters)], dim=1)
