"""A Llama on the processor that goes on from many branches of one tree of tokens.

Hypotheses of a search share most of their tokens. So keys and values are kept for each node of the
tree and a branch names its nodes; the trunk, which all share, is looked at without copies.
Checked against transformers in tests/scripts/bench/outside.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.functional import linear, rms_norm, silu

_ROOM = 4096


@dataclass(frozen=True, slots=True)
class Shape:
    """Of a checkpoint."""

    layers: int
    heads: int
    kv_heads: int
    width: int
    theta: float
    epsilon: float

    @classmethod
    def read(cls, folder: Path) -> Shape:
        """From config.json."""
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        heads = config["num_attention_heads"]
        return cls(
            config["num_hidden_layers"],
            heads,
            config["num_key_value_heads"],
            config.get("head_dim", config["hidden_size"] // heads),
            (config.get("rope_parameters") or config)["rope_theta"],
            config["rms_norm_eps"],
        )


class Causal:
    """A language model with a tree; ``trunk`` clears it."""

    def __init__(self, folder: Path, dtype: torch.dtype = torch.bfloat16) -> None:
        self._shape = shape = Shape.read(folder)
        weights = load_file(folder / "model.safetensors")
        self._weights = {name: tensor.to(dtype) for name, tensor in weights.items()}
        self._table = self._weights["model.embed_tokens.weight"]
        exponents = torch.arange(0, shape.width, 2, dtype=torch.float32) / shape.width
        self._turns = shape.theta**-exponents
        size = (shape.layers, _ROOM, shape.kv_heads, shape.width)
        self._keys, self._values = torch.zeros(size, dtype=dtype), torch.zeros(size, dtype=dtype)
        self._used = self._trunk = 0

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return len(self._table)

    def trunk(self, tokens: list[int]) -> Tensor:
        """Begin anew with ``tokens``; logits [V] of what follows."""
        self._used = self._trunk = 0
        for token in tokens:
            empty = torch.empty((1, 0), dtype=torch.long)
            logits, _ = self.grow(torch.tensor([token]), empty, torch.zeros(1, dtype=torch.long))
            self._trunk = self._used
        return logits[0]

    @torch.inference_mode()
    def grow(self, tokens: Tensor, paths: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """One token more behind each of B branches.

        ``tokens`` [B]; ``paths`` [B, T]: nodes behind the trunk, of which the first ``lengths`` [B]
        count. Logits float32 [B, V] of what follows, and the new nodes [B].
        """
        count = len(tokens)
        self._make_room(count)
        nodes = torch.arange(self._used, self._used + count)
        self._used += count
        seen = torch.cat([paths, nodes[:, None]], 1)
        valid = torch.arange(paths.shape[1])[None] < lengths[:, None]
        valid = torch.cat([valid, torch.ones(count, 1, dtype=torch.bool)], 1)
        angles = (self._trunk + lengths)[:, None].float() * self._turns
        angles = torch.cat([angles, angles], 1)
        turn = angles.cos(), angles.sin()
        hidden = self._table[tokens]
        for layer in range(self._shape.layers):
            hidden = self._layer(layer, hidden, nodes, seen, valid, turn)
        last = self._normed(hidden, "model.norm.weight")
        return linear(last, self._table).float(), nodes

    def _normed(self, hidden: Tensor, name: str) -> Tensor:
        return rms_norm(hidden, hidden.shape[1:], self._weights[name], self._shape.epsilon)

    def _layer(
        self,
        layer: int,
        hidden: Tensor,
        nodes: Tensor,
        seen: Tensor,
        valid: Tensor,
        turn: tuple[Tensor, Tensor],
    ) -> Tensor:
        place = f"model.layers.{layer}"
        x = self._normed(hidden, f"{place}.input_layernorm.weight")
        q, k, v = (self._linear(x, f"{place}.self_attn.{name}_proj") for name in "qkv")
        split = (len(hidden), -1, self._shape.width)
        self._keys[layer, nodes] = _turned(k.view(split), turn)
        self._values[layer, nodes] = v.view(split)
        mixed = self._attention(layer, _turned(q.view(split), turn), seen, valid)
        hidden = hidden + self._linear(mixed, f"{place}.self_attn.o_proj")
        x = self._normed(hidden, f"{place}.post_attention_layernorm.weight")
        gate, up = (self._linear(x, f"{place}.mlp.{name}_proj") for name in ("gate", "up"))
        return hidden + self._linear(silu(gate) * up, f"{place}.mlp.down_proj")

    def _linear(self, x: Tensor, name: str) -> Tensor:
        return linear(x, self._weights[f"{name}.weight"])

    def _attention(self, layer: int, q: Tensor, seen: Tensor, valid: Tensor) -> Tensor:
        """[B, heads * width]: over the trunk and over each branch's own nodes."""
        shape, count = self._shape, len(q)
        keys, values = self._keys[layer], self._values[layer]
        grouped = q.view(count, shape.kv_heads, -1, shape.width) * shape.width**-0.5
        shared = torch.einsum("bhgd,phd->bhgp", grouped, keys[: self._trunk]).float()
        own = torch.einsum("bhgd,bthd->bhgt", grouped, keys[seen]).float()
        own = own.masked_fill(~valid[:, None, None], float("-inf"))
        share = torch.cat([shared, own], -1).softmax(-1).to(q.dtype)
        trunk, branch = share[..., : self._trunk], share[..., self._trunk :]
        mixed = torch.einsum("bhgp,phd->bhgd", trunk, values[: self._trunk])
        mixed = mixed + torch.einsum("bhgt,bthd->bhgd", branch, values[seen])
        return mixed.reshape(count, -1)

    def _make_room(self, count: int) -> None:
        if self._used + count > self._keys.shape[1]:
            grown = torch.zeros_like(self._keys)
            self._keys = torch.cat([self._keys, grown], 1)
            self._values = torch.cat([self._values, grown], 1)


def _turned(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary positions (Su et al. 2021) of [B, heads, width]."""
    cos, sin = (part[:, None] for part in turn)
    first, second = x.float().chunk(2, -1)
    return (x.float() * cos + torch.cat([-second, first], -1) * sin).to(x.dtype)
