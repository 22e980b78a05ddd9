"""How a loaded model turns keys by their positions, read from its modules and tried out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from split_server.engine.linears.quantize import QuantizedLinear
from split_server.engine.model.loader import Backbone
from split_server.engine.model.plan.choice import PLAN
from split_server.errors import NoKeyRotation
from split_server.kv.moving.rotate import KeyRotation, Rope

# By the values that a pair is made of: of two halves of a head, or of neighbours.
_HALVES = frozenset({"llama", "qwen2", "qwen3", "mistral", "gemma", "gemma2", "gemma3_text"}) | {
    "phi",
    "phi3",
    "granite",
    "olmo2",
    "starcoder2",
}
_NEIGHBOURS = frozenset({"cohere", "cohere2"})
# Of those, in which layers without a window have no rope.
_ROPE_IN_WINDOWS = frozenset({"cohere2"})
_TRIED = 4
# Norm of a difference over that of the keys; one more rounding is well below.
_CLOSE = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 3e-3}


def key_rotation(backbone: Backbone) -> KeyRotation:
    """What moves keys of ``backbone`` to other positions. Raises NoKeyRotation for a family, or a
    model of one, for which it does not give what computing them there gives.
    """
    family = backbone.info.family
    if family not in _HALVES | _NEIGHBOURS:
        raise NoKeyRotation(family, "it is not known how it turns keys")
    rotation = KeyRotation(_ropes(backbone, family), backbone.device)
    last = max(backbone.info.max_context - _TRIED, _TRIED)
    for old, new in ((0, last), (last, last // 2), (last // 3, 1)):
        if _off(backbone, rotation, old, new) > _CLOSE[backbone.dtype]:
            raise NoKeyRotation(family, "moved keys are not those that are computed")
    return rotation


def _ropes(backbone: Backbone, family: str) -> list[Rope | None]:
    module: Any = backbone.module
    config, rotary = module.config, module.rotary_emb
    types: Any = getattr(config, "layer_types", None) or [None] * backbone.info.num_layers
    wide = backbone.layers == PLAN and any(
        isinstance(each, QuantizedLinear) for each in module.modules()
    )
    like = torch.empty(0, dtype=torch.float32 if wide else backbone.dtype, device=backbone.device)
    # Only where kinds of layers turn differently.
    by_type = hasattr(rotary, "layer_types")

    def angles(kind: str | None) -> Callable[..., Any]:
        told = (kind,) if by_type else ()
        return lambda positions: rotary(like, positions, *told)

    adjacent = family in _NEIGHBOURS
    known = {kind: Rope(angles(kind), adjacent) for kind in set(types)}
    if not by_type:
        known = dict.fromkeys(known, Rope(angles(None), adjacent))
    return [
        None if family in _ROPE_IN_WINDOWS and kind == "full_attention" else known[kind]
        for kind in types
    ]


@torch.inference_mode()
def _off(backbone: Backbone, rotation: KeyRotation, old: int, new: int) -> float:
    """The largest norm of a difference of moved and computed keys over that of a layer's keys."""
    rows = torch.ones(_TRIED, backbone.info.hidden_size)
    rows *= torch.linspace(-1, 1, rows.numel()).view(rows.shape)
    before, after = computed_keys(backbone, rows, old), computed_keys(backbone, rows, new)
    move, worst = rotation.move(old, new, _TRIED), 0.0
    for layer, (one, right) in enumerate(zip(before, after, strict=True)):
        off = float((move(layer, one).float() - right.float()).norm() / right.float().norm())
        worst = max(worst, off if math.isfinite(off) else math.inf)
    return worst


def computed_keys(backbone: Backbone, rows: torch.Tensor, start: int) -> list[torch.Tensor]:
    """The keys [kv_heads, n, head_dim] of every layer for ``rows`` [n, H] from position ``start``
    on, in a pass without attention, so that they depend on nothing else.
    """
    rows = rows.to(backbone.device, backbone.dtype)[None]
    positions = torch.arange(start, start + rows.shape[1], device=backbone.device)[None]
    watch = _Keys()
    backbone.hidden(rows, positions, watch)
    return watch.keys


class _Keys:
    """Attends to nothing and remembers the keys."""

    def __init__(self) -> None:
        self.keys = list[torch.Tensor]()

    def attend(
        self,
        layer: int,  # noqa: ARG002
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,  # noqa: ARG002
        scaling: float,  # noqa: ARG002
        window: int | None,  # noqa: ARG002
        softcap: float | None,  # noqa: ARG002
    ) -> torch.Tensor:
        """As :meth:`Attends.attend`."""
        self.keys.append(keys[0].clone())
        return torch.zeros_like(query).transpose(1, 2)
