"""Rows of a session computed anew at any positions, between rows that stay.

Of rows that an edit has moved, those whose values in the second layer differ most from what its
first layer gives for the new text are the ones that have most to do with the edit (CacheBlend, Yao
et al. 2024, https://arxiv.org/abs/2405.16444). Nothing but the first layer is computed to find
them, and they are computed in one pass with what the edit brings, in the order of positions.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from split_server.engine.model.attention import softcapped_rows
from split_server.engine.model.convert import to_torch, to_wire
from split_server.engine.model.loader import Backbone
from split_server.engine.model.packed import padded
from split_server.kv.cache import KVCache
from split_server.kv.moving.scattered import Scattered
from split_wire.tensor import Tensor, WireDtype

# Scores of a pass, in values per query head: rows times positions that they see.
_SCORES_AT_ONCE = 1 << 22


class Blending:
    """Of ``backbone``. On the model thread."""

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone

    def load(self, embeddings: Tensor) -> torch.Tensor:
        """Rows of the wire as [n, H] on the model's device in its dtype."""
        return to_torch(embeddings, self._backbone.dtype, self._backbone.device)

    def at_once(self, rows: int, positions: int) -> int:
        """How many of ``rows`` a pass may take that sees so many positions."""
        return max(1, min(rows, _SCORES_AT_ONCE // max(1, positions)))

    @torch.inference_mode()
    def deviations(self, cache: KVCache, first: int, rows: torch.Tensor) -> torch.Tensor:
        """How far the values of the second layer that ``cache`` has are from those that ``rows``
        [n, H] have from position ``first`` on: squares of norms, float32 [n] on the host, infinite
        where they are no numbers. All before them are there in the first layer; theirs are then.

        A model of one layer deviates nowhere: its values depend on nothing but the row.
        """
        looking = _Looking(cache, self._positions(range(first, first + len(rows))))
        try:
            self._pass(looking, rows)
        except _EnoughError:
            return looking.off.cpu().nan_to_num(float("inf"), float("inf"))
        return torch.zeros(len(rows))

    @torch.inference_mode()
    def computed(
        self, cache: KVCache, positions: list[int], rows: torch.Tensor, dtype: WireDtype
    ) -> Tensor:
        """Have ``cache`` hold what ``rows`` [n, H] have at ``positions``, ascending; the final-norm
        state of the last of them. Raises HiddenOverflow.
        """
        places = _Places(cache, self._positions(positions))
        return to_wire(self._pass(places, rows)[len(rows) - 1 : len(rows)], dtype)

    def _positions(self, positions: range | list[int]) -> torch.Tensor:
        return torch.tensor(positions, dtype=torch.int64, device=self._backbone.device)

    def _pass(self, places: _Places, rows: torch.Tensor) -> torch.Tensor:
        pads = self._backbone.matrices.quantized != "int4"
        least = self._backbone.least_rows
        padding = padded(len(rows), least) - len(rows) if pads else 0
        embeddings = functional.pad(rows, (0, 0, 0, padding))[None]
        positions = functional.pad(places.positions, (0, padding))[None]
        return self._backbone.hidden(embeddings, positions, places)


class _Places:
    """Attends for rows at ``positions`` of ``cache``."""

    def __init__(self, cache: KVCache, positions: torch.Tensor) -> None:
        self.positions = positions
        self._rows = Scattered(cache, positions)
        self._masks = dict[int | None, torch.Tensor]()

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
        count, padding = len(self.positions), query.shape[2] - len(self.positions)
        query, keys, values = (part.narrow(2, 0, count) for part in (query, keys, values))
        self._rows.write(layer, keys, values)
        held, seen = self._rows.seen(layer), self._seen(window)
        if softcap is None:
            attended = functional.scaled_dot_product_attention(
                query, *held, seen, scale=scaling, enable_gqa=True
            )
        else:
            attended = softcapped_rows(query.contiguous(), *held, scaling, seen, softcap)
        return functional.pad(attended.transpose(1, 2), (0, 0, 0, 0, 0, padding))

    def _seen(self, window: int | None) -> torch.Tensor:
        """[n, seen]: which row sees which place."""
        mask = self._masks.get(window)
        if mask is None:
            places, own = self._rows.places, self.positions[:, None]
            mask = places <= own
            if window is not None:
                mask &= places > own - window
            self._masks[window] = mask
        return mask


class _EnoughError(Exception):
    """Ends a pass of which no more is needed."""


class _Looking(_Places):
    """Compares values in the second layer, and ends the pass there."""

    off = torch.empty(0)

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
        if layer == 0:
            return super().attend(layer, query, keys, values, scaling, window, softcap)
        computed = values[0].narrow(1, 0, len(self.positions))
        difference = computed.float() - self._rows.values(layer).float()
        self.off = difference.square().sum((0, 2))
        raise _EnoughError
