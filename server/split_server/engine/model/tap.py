"""Attention rows of a step's last position, taken while the step runs.

Each layer shows the tap its last query and cached keys. Scores, softcap, sliding window and softmax
(in float32) are those of eager attention, so whoever has the tap compute them may as well have it
weigh the values: that costs a decode step less than a fused kernel beside the tap.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from split_wire.attention import AttentionRequest
from split_wire.errors import HiddenOverflow

_EVERYTHING = AttentionRequest()


@dataclass(frozen=True, slots=True)
class AttentionResult:
    """``values`` [layers, heads or 1, width] in the request's dtype, on the CPU, contiguous.

    ``positions`` int32 of the same shape: the positions of a top-k, largest weight first, equal
    ones by position; None when width is the number of cached positions.
    """

    values: torch.Tensor
    positions: torch.Tensor | None


@dataclass(frozen=True, slots=True)
class _Room:
    """Room for a layer's scores [kv_heads, rep, n] and float32 keys [kv_heads, n, D].

    ``turned``: the same keys as [kv_heads, D, n]; both are empty when keys are float32 already.
    """

    scores: torch.Tensor
    wide: torch.Tensor
    turned: torch.Tensor


class AttentionTap:
    """For one step of one session: ``length`` cached positions, the step's own included.

    ``heads``: query heads of one layer; layers that were not asked for need not be shown. Holds
    the answer as it grows, and room for the scores and float32 keys of one layer: reductions happen
    layer by layer, so that a top-k over a long context needs no memory for what it leaves out.
    """

    def __init__(
        self,
        request: AttentionRequest,
        layers: int,
        heads: int,
        length: int,
        device: torch.device,
    ) -> None:
        self._request = request
        self._length = length
        shape = (request.layers_of(layers), request.rows_of(heads), request.width_of(length))
        dtype = torch.half if request.dtype == "f16" else torch.float32
        # Where the answer has each layer that is wanted.
        self._places = {layer: at for at, layer in enumerate(request.layers or range(layers))}
        self._one: torch.Tensor | None = None
        if request.reduce != "none":
            self._one = torch.zeros(1, length, device=device)
        self._values = torch.zeros(shape, dtype=dtype, device=device)
        self._positions = torch.empty(
            shape if request.top_k else 0, dtype=torch.int32, device=device
        )
        # A score that is not finite makes its whole row NaN; the last position is always visible.
        self._witness = torch.zeros(shape[:2], device=device)
        self._layers = self._values.unbind()
        self._scores = torch.empty(heads * length, device=device)
        self._wide = torch.empty(0, device=device)
        self._room: tuple[torch.Size, _Room] | None = None
        self._unseen = set(self._places)
        # The positions whose keys are shown, ascending; None: all of them.
        self.places: torch.Tensor | None = None

    def wants(self, layer: int) -> bool:
        """Whether the answer depends on that layer; others need not be shown."""
        return layer in self._places

    def observe(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        scaling: float,
        sliding_window: int | None = None,
        softcap: float | None = None,
    ) -> None:
        """Take in one layer.

        ``query`` [kv_heads, rep, D] of the last position (head h shares the keys of h // rep),
        ``keys`` [1, kv_heads, length, D], both rotated. With a ``sliding_window`` the last position
        sees that many, itself included; ``softcap`` bounds the scores (Gemma 2).
        """
        self._weights(layer, query, keys, scaling, sliding_window, softcap)

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        scaling: float,
        sliding_window: int | None = None,
        softcap: float | None = None,
    ) -> torch.Tensor:
        """:meth:`observe`, and the attention's output [kv_heads, rep, D] for the last position.

        ``values`` as ``keys``.
        """
        weights = self._weights(layer, query, keys, scaling, sliding_window, softcap)
        shown, seen = values[0], weights.shape[2]
        if seen != self._length:
            shown = shown[:, -seen:]
        return torch.bmm(weights.to(values.dtype), shown)

    def take(self, layer: int, weights: torch.Tensor) -> None:
        """Take in one layer whose softmax weights [heads, length] an engine shows itself."""
        self._unseen.discard(layer)
        if self._request == _EVERYTHING:
            self._layers[layer].copy_(weights)
        else:
            self._keep(layer, weights)

    def rows(self) -> AttentionResult:
        """The rows that were asked for. Raises HiddenOverflow when scores were not finite."""
        if self._unseen:
            raise RuntimeError("a layer did not show its attention")
        if self._one is not None:
            self._write_one(self._one)
        witness = self._witness if self._request.top_k else self._values[..., -1]
        if not bool(torch.isfinite(witness).all()):
            raise HiddenOverflow
        positions = self._positions.cpu() if self._request.top_k else None
        return AttentionResult(self._values.cpu(), positions)

    def _weights(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        scaling: float,
        window: int | None,
        softcap: float | None,
    ) -> torch.Tensor:
        """Softmax weights [kv_heads, rep, visible] of a layer, which are also kept."""
        keys = keys[0]
        if window is not None and window < self._length:
            keys = keys[:, -window:]
        scores = self._products(query, keys, scaling)
        if softcap is not None:
            scores.div_(softcap).tanh_().mul_(softcap)
        self._unseen.discard(layer)
        if self._request == _EVERYTHING and keys.shape[1] == self._length:
            return torch.softmax(scores, -1, out=self._layers[layer].view(scores.shape))
        weights = torch.softmax(scores, -1)
        self._keep(layer, weights.view(-1, keys.shape[1]))
        return weights

    def _products(self, query: torch.Tensor, keys: torch.Tensor, scaling: float) -> torch.Tensor:
        """``scaling`` x query . key in float32 [kv_heads, rep, n] for ``keys`` [kv_heads, n, D]."""
        if self._room is None or self._room[0] != keys.shape:
            self._room = (keys.shape, self._make_room(query, keys))
        room = self._room[1]
        # Widening the keys beats a product in bf16, whose kernels are slow for so few rows.
        if keys.dtype == torch.float32:
            turned = keys.transpose(1, 2)
        else:
            query, turned = query.float(), room.turned
            room.wide.copy_(keys)
        scores = room.scores
        return torch.baddbmm(scores, query, turned, beta=0, alpha=scaling, out=scores)

    def _make_room(self, query: torch.Tensor, keys: torch.Tensor) -> _Room:
        """Views for layers with ``keys`` of this shape; all layers share the memory."""
        kv_heads, count, width = keys.shape
        scores = self._scores[: query.shape[0] * query.shape[1] * count]
        if keys.dtype != torch.float32 and self._wide.numel() < keys.numel():
            self._wide = torch.empty(kv_heads * self._length * width, device=keys.device)
        wide = self._wide[: keys.numel()]
        wide = wide.view(keys.shape) if wide.numel() else wide
        turned = wide.transpose(1, 2) if wide.numel() else wide
        return _Room(scores.view(kv_heads, -1, count), wide, turned)

    def _keep(self, layer: int, weights: torch.Tensor) -> None:
        """Reduce ``weights`` [heads, visible] to the part of the answer that is this layer's."""
        if self._request.heads == "mean":
            weights = weights.mean(0, keepdim=True)
        elif self._request.heads == "max":
            weights = weights.amax(0, keepdim=True)
        if self._one is not None:
            self._join(self._one, weights)
        else:
            self._write(self._places[layer], weights)

    def _join(self, one: torch.Tensor, weights: torch.Tensor) -> None:
        """Have the sum or the maximum of all layers' rows in ``one`` [1, length]."""
        if self._request.reduce == "max":
            row = weights.amax(0, keepdim=True)
            torch.maximum(one, self._spaced(row), out=one)
        else:
            # Each layer has as many rows as any other.
            one += self._spaced(weights.mean(0, keepdim=True))

    def _write_one(self, one: torch.Tensor) -> None:
        if self._request.reduce == "mean":
            one = one / len(self._places)
        # It has all positions already.
        self._one = self.places = None
        self._write(0, one)

    def _write(self, at: int, weights: torch.Tensor) -> None:
        """Have ``weights`` [rows, visible] be layer ``at`` of the answer."""
        if not self._request.top_k:
            self._spread(self._layers[at], weights)
            return
        self._witness[at] = weights[:, -1]
        rows = self._spaced(weights)
        # Rounded first, so that what travels is in the order of its weights.
        values, positions = _largest(rows.to(self._values.dtype), self._values.shape[2])
        self._layers[at][:] = values
        self._positions[at] = positions

    def _spaced(self, weights: torch.Tensor) -> torch.Tensor:
        """``weights`` [rows, visible] over all positions, 0 where nothing is seen."""
        if weights.shape[1] == self._length and self.places is None:
            return weights
        rows = weights.new_zeros(weights.shape[0], self._length)
        self._spread(rows, weights)
        return rows

    def _spread(self, rows: torch.Tensor, weights: torch.Tensor) -> None:
        """Write ``weights`` of the last positions that are seen into ``rows`` [heads, length] of
        zeros.
        """
        count = weights.shape[1]
        if self.places is None:
            rows[:, -count:] = weights
        else:
            rows[:, self.places[-count:]] = weights.to(rows.dtype)


def _largest(rows: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The ``count`` largest of each row [rows, length] and their positions int64.

    Sorted by weight, equal ones by position.
    """
    # The bits of numbers that are not negative are ordered as the numbers, and faster to compare.
    bits = rows.view(torch.int16 if rows.dtype == torch.half else torch.int32)
    chosen = torch.topk(bits, count, sorted=False).indices.sort().values
    values, order = bits.gather(-1, chosen).sort(descending=True, stable=True)
    return values.view(rows.dtype), chosen.gather(-1, order)
