"""Reads a plan's layers off the modules of Hugging Face, for families with layers of this shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional

from split_server.engine.linears.shared import Product, factored_product, one_product
from split_server.engine.model.plan.layer import Attention, GatedMlp, Layer
from split_server.engine.model.plan.parts import PLAIN, Parts
from split_server.engine.model.plan.stream import HeadNorm, Norm

# Others have layers of another shape: parallel blocks, norms with a mean, no gate.
FAMILIES = frozenset(
    {
        "qwen2",
        "qwen3",
        "llama",
        "mistral",
        "phi3",
        "granite",
        "gemma",
        "gemma2",
        "gemma3_text",
    }
)
_GEMMA = frozenset({"gemma", "gemma2", "gemma3_text"})
# Their attention layers read the window from the configuration.
_WINDOW_OF_CONFIG = frozenset({"mistral", "phi3"})
_QKV = ("q_proj", "k_proj", "v_proj")
_GATE_UP = ("gate_proj", "up_proj")


class Reader:
    """Of a ``module`` of one of FAMILIES. Raises AttributeError where it lacks what its family has.

    ``dtype``: of what is cached; ``parts``: of the module's device.
    """

    def __init__(self, module: Any, dtype: torch.dtype, parts: Parts = PLAIN) -> None:
        self._config, self._dtype, self._parts = module.config, dtype, parts
        self._family = str(module.config.model_type)

    def layer(self, index: int, layer: Any) -> Layer:
        """The decoder layer with this index."""
        around = hasattr(layer, "pre_feedforward_layernorm")
        after, before = layer.post_attention_layernorm, layer.post_attention_layernorm
        if around:
            before = layer.pre_feedforward_layernorm
        qkv, qkv_factors = factored_product(_layers(layer.self_attn, _QKV, "qkv_proj"))
        gate_up, gate_factors = factored_product(_layers(layer.mlp, _GATE_UP, "gate_up_proj"))
        return Layer(
            before_attention=self.norm(layer.input_layernorm, qkv_factors),
            attention=self._attention(index, layer.self_attn, qkv),
            after_attention=self.norm(after) if around else None,
            before_mlp=self.norm(before, gate_factors),
            mlp=self._mlp(layer.mlp, gate_up),
            after_mlp=self.norm(layer.post_feedforward_layernorm) if around else None,
            factor=float(getattr(layer, "residual_multiplier", 1.0)),
        )

    def norm(self, norm: Any, factors: torch.Tensor | None = None) -> Norm:
        """A norm over the whole row, whose results are multiplied by ``factors`` [H]."""
        weight = self._norm_weight(norm)
        wanted = weight if factors is None else weight * factors
        return self._parts.norm(wanted, _eps(norm))

    def _attention(self, index: int, attention: Any, qkv: Product) -> Attention:
        config, width = self._config, int(attention.head_dim)
        heads, kv_heads = int(config.num_attention_heads), int(config.num_key_value_heads)
        of_config = self._family in _WINDOW_OF_CONFIG
        return Attention(
            index=index,
            qkv=qkv,
            out=one_product([attention.o_proj]),
            heads=heads,
            kv_heads=kv_heads,
            width=width,
            dtype=self._dtype,
            scaling=float(attention.scaling),
            window=getattr(config if of_config else attention, "sliding_window", None),
            softcap=getattr(attention, "attn_logit_softcapping", None),
            norm=self._head_norm(attention, heads, kv_heads),
        )

    def _mlp(self, mlp: Any, gate_up: Product) -> GatedMlp:
        activation = mlp.activation_fn if hasattr(mlp, "activation_fn") else mlp.act_fn
        gate = self._parts.gate(_function(activation))
        return GatedMlp(gate_up, one_product([mlp.down_proj]), gate)

    def _head_norm(self, attention: Any, heads: int, kv_heads: int) -> HeadNorm | None:
        if not hasattr(attention, "q_norm"):
            return None
        query, key = (self._norm_weight(norm) for norm in (attention.q_norm, attention.k_norm))
        weights = torch.cat([query.expand(heads, -1), key.expand(kv_heads, -1)])
        return self._parts.head_norm(weights, _eps(attention.q_norm))

    def _norm_weight(self, norm: Any) -> torch.Tensor:
        weight: torch.Tensor = norm.weight.detach().float()
        return weight + 1.0 if self._family in _GEMMA else weight


def _eps(norm: Any) -> float:
    return float(norm.eps if hasattr(norm, "eps") else norm.variance_epsilon)


def _layers(module: Any, names: Sequence[str], together: str) -> list[torch.nn.Module]:
    """Those that have the input of ``names``, where the family has one for all of them or each."""
    names = [together] if hasattr(module, together) else names
    return [getattr(module, name) for name in names]


def _function(activation: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    """What ``activation`` computes, without the call of a module where it is a known one."""
    if isinstance(activation, torch.nn.SiLU) or type(activation).__name__ == "SiLUActivation":
        return functional.silu
    found: Callable[[torch.Tensor], torch.Tensor] = activation
    return found
