"""The tensors of a GGUF by the names and in the forms that Hugging Face's families have.

Names are those of https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, "Standardized tensor
names". A tensor without a rule refuses the file: left out, it would change every answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from split_server.checkpoint.families import EMBEDDING, HEAD
from split_server.checkpoint.gguf.blocks import Floats
from split_server.errors import MalformedCheckpoint

Change = Callable[[Floats, Mapping[str, Any]], Floats]

_ATTENTION = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
}
_MLP = {
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_HEAD_NORMS = {"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"}
_PHI3 = {
    "attn_norm": "input_layernorm",
    "attn_qkv": "self_attn.qkv_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_up": "mlp.gate_up_proj",
    "ffn_down": "mlp.down_proj",
}
_STARCODER2 = {
    **_ATTENTION,
    "ffn_norm": "post_attention_layernorm",
    "ffn_up": "mlp.c_fc",
    "ffn_down": "mlp.c_proj",
}
_GEMMA2 = {
    **_ATTENTION,
    **_MLP,
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}


@dataclass(frozen=True, slots=True)
class Names:
    """Of one family.

    ``layer``: of a layer's tensors; ``biased``: those of them that have a bias; ``final_bias``:
    whether the last norm has one; ``changes``: of values, by the name in the file.
    """

    layer: Mapping[str, str]
    biased: frozenset[str] = frozenset()
    final_bias: bool = False
    changes: Mapping[str, Change] = field(default_factory=dict)

    def expected(self, layers: int) -> dict[str, str]:
        """Every tensor that a model of so many layers has beside its head: new name by old one."""
        found = {"token_embd.weight": EMBEDDING, "output_norm.weight": "model.norm.weight"}
        if self.final_bias:
            found["output_norm.bias"] = "model.norm.bias"
        for number in range(layers):
            for old, new in self.layer.items():
                found[f"blk.{number}.{old}.weight"] = f"model.layers.{number}.{new}.weight"
                if old in self.biased:
                    found[f"blk.{number}.{old}.bias"] = f"model.layers.{number}.{new}.bias"
        return found

    def change(self, name: str) -> Change | None:
        """What makes the values of a tensor those of Hugging Face's family, if they differ."""
        return self.changes.get(name.rsplit(".", 2)[-2])


def renamed(names: Names, tensors: Mapping[str, tuple[int, ...]], layers: int) -> dict[str, str]:
    """New name by old one, of all ``tensors`` (shapes by name).

    Raises MalformedCheckpoint for one that is missing and for one without a rule.
    """
    expected = names.expected(layers)
    if "output.weight" in tensors:
        expected["output.weight"] = HEAD
    missing = [name for name in expected if name not in tensors]
    if missing:
        raise MalformedCheckpoint(f"the file lacks the tensor {missing[0]}")
    strange = [name for name in tensors if name not in expected]
    if strange:
        raise MalformedCheckpoint(
            f"the file has the tensor {strange[0]}, which no rule of its family knows; "
            "without it every answer would be another, so the file is not read"
        )
    return expected


def _put_back(heads: str) -> Change:
    """Undo the interleaving of the two halves of each head (ggml's rotary embedding)."""

    def change(values: Floats, config: Mapping[str, Any]) -> Floats:
        count = config[heads]
        if values.ndim != 2 or values.shape[0] % (2 * count):
            raise MalformedCheckpoint(f"queries or keys are not of {count} heads")
        halves = values.reshape(count, values.shape[0] // count // 2, 2, -1)
        return halves.swapaxes(1, 2).reshape(values.shape)

    return change


def _less_one(values: Floats, config: Mapping[str, Any]) -> Floats:  # noqa: ARG001
    """A norm of gemma: its file holds 1 + w."""
    return values - np.float32(1)


_INTERLEAVED = {
    "attn_q": _put_back("num_attention_heads"),
    "attn_k": _put_back("num_key_value_heads"),
}
_GEMMA_NORMS = (
    "attn_norm post_attention_norm ffn_norm post_ffw_norm output_norm attn_q_norm attn_k_norm"
)
_FROM_ONE = dict.fromkeys(_GEMMA_NORMS.split(), _less_one)
_LLAMA = Names({**_ATTENTION, **_MLP}, changes=_INTERLEAVED)
NAMES = {
    "llama": _LLAMA,
    "mistral": _LLAMA,
    "qwen2": Names({**_ATTENTION, **_MLP}, biased=frozenset({"attn_q", "attn_k", "attn_v"})),
    "qwen3": Names({**_ATTENTION, **_MLP, **_HEAD_NORMS}),
    "phi3": Names(_PHI3),
    "starcoder2": Names(_STARCODER2, biased=frozenset(_STARCODER2), final_bias=True),
    "gemma2": Names(_GEMMA2, changes=_FROM_ONE),
    "gemma3_text": Names({**_GEMMA2, **_HEAD_NORMS}, changes=_FROM_ONE),
}
