"""A pass through all decoder layers and the final norm."""

from __future__ import annotations

from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutputWithPast

from split_server.engine.model.packed import Attends
from split_server.engine.model.plan.device import parts_for
from split_server.engine.model.plan.reading import Reader
from split_server.engine.model.plan.rope import Turn
from split_server.engine.model.plan.stream import Stream


class DecodePlan:
    """What ``module`` computes, with its weights. Raises as :class:`Reader`.

    ``wide``: rows are float32 between the products, because those are.
    """

    def __init__(self, module: Any, dtype: torch.dtype, wide: bool) -> None:
        self._parts = parts_for(next(module.parameters()).device)
        reader = Reader(module, dtype, self._parts)
        self._dtype, self.wide = dtype, wide
        self._rotary = module.rotary_emb
        self._factor = float(getattr(module, "embedding_multiplier", 1.0))
        types: Any = getattr(module.config, "layer_types", None)
        # Only where kinds of layers turn differently.
        by_type = hasattr(module.rotary_emb, "layer_types")
        self.layers = [reader.layer(i, each) for i, each in enumerate(module.layers)]
        self._types = [types[i] if by_type else None for i in range(len(self.layers))]
        self._norm = reader.norm(module.norm)

    def stream(self, rows: torch.Tensor) -> Stream:
        """Of rows [1, n, H] as they come from the device."""
        return self.stream_of(rows if self._factor == 1.0 else rows * self._factor)

    def stream_of(self, rows: torch.Tensor) -> Stream:
        """Of rows [1, n, H] as a layer is given them."""
        return self._parts.stream(rows.float() if self.wide else rows)

    def turns(self, rows: torch.Tensor, positions: torch.Tensor) -> list[Turn]:
        """For each layer, of rows at ``positions`` [1, n]."""
        like = rows.float() if self.wide else rows
        known = {
            kind: self._parts.turn(
                *self._rotary(like, positions, *(() if kind is None else (kind,)))
            )
            for kind in set(self._types)
        }
        return [known[kind] for kind in self._types]

    def hidden(self, rows: torch.Tensor, positions: torch.Tensor, attends: Attends) -> torch.Tensor:
        """Final-norm hidden states [1, n, H] of rows [1, n, H] at ``positions`` [1, n]."""
        stream = self.stream(rows)
        for layer, turn in zip(self.layers, self.turns(rows, positions), strict=True):
            layer(stream, turn, attends)
        return self.final(stream)

    def final(self, stream: Stream) -> torch.Tensor:
        """The norm behind the last layer, [1, n, H]."""
        return stream.normed(self._norm).to(self._dtype).contiguous()

    def forward(
        self,
        inputs_embeds: torch.Tensor,
        position_ids: torch.Tensor,
        packed: Attends,
        **_: Any,
    ) -> BaseModelOutputWithPast:
        """:meth:`hidden` as the module is called."""
        return BaseModelOutputWithPast(
            last_hidden_state=self.hidden(inputs_embeds, position_ids, packed)
        )
