"""A model with its channels in another order: the same function, other neighbours.

A checkpoint that was imported from blocks of four bits (a GGUF file of Q4_1) has at most sixteen
values in each run of 32 weights. Groups of 32 find those again, and a loss is measured that no
model of another origin has. Hidden channels, those of the MLP and those of each value head have no
order of their own, so they are permuted, and every group then holds weights of many blocks.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from split_server.checkpoint.families import EMBEDDING, HEAD

_READERS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj")
_READERS += ("mlp.up_proj",)
_FAMILIES = ("llama", "mistral", "qwen2")


def shuffled(source: Path, target: Path) -> Path:
    """Write ``source`` to ``target`` with its channels in an order drawn at random."""
    config = json.loads((source / "config.json").read_text())
    if config["model_type"] not in _FAMILIES:
        raise SystemExit(f"--shuffled knows the layers of {', '.join(_FAMILIES)}")
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.safetensors", "*.bin.*"))
    tensors = load_file(source / "model.safetensors")
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randperm(config["hidden_size"], generator=generator)
    for name, tensor in tensors.items():
        if name in (EMBEDDING, HEAD):
            tensors[name] = tensor[:, hidden]
        elif name.endswith("norm.weight"):
            tensors[name] = tensor[hidden]
    for layer in range(config["num_hidden_layers"]):
        _permute(tensors, f"model.layers.{layer}.", config, hidden, generator)
    whole = {name: tensor.contiguous() for name, tensor in tensors.items()}
    save_file(whole, target / "model.safetensors", metadata={"format": "pt"})
    return target


def _permute(
    tensors: dict[str, torch.Tensor],
    layer: str,
    config: dict[str, int],
    hidden: torch.Tensor,
    generator: torch.Generator,
) -> None:
    inner = torch.randperm(config["intermediate_size"], generator=generator)
    values, heads = _value_orders(config, generator)

    def take(name: str, rows: torch.Tensor | None, columns: torch.Tensor | None = None) -> None:
        tensor = tensors[layer + name]
        tensor = tensor if columns is None else tensor[:, columns]
        tensors[layer + name] = tensor if rows is None else tensor[rows]

    for name in _READERS:
        take(f"{name}.weight", None, hidden)
    for name in ("mlp.gate_proj.weight", "mlp.up_proj.weight"):
        take(name, inner)
    for kind in ("weight", "bias"):
        if f"{layer}self_attn.v_proj.{kind}" in tensors:
            take(f"self_attn.v_proj.{kind}", values)
    take("mlp.down_proj.weight", hidden, inner)
    take("self_attn.o_proj.weight", hidden, heads)


def _value_orders(
    config: dict[str, int], generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of the values' rows, and of the columns that read what was attended."""
    count, kept = config["num_attention_heads"], config["num_key_value_heads"]
    width = config.get("head_dim") or config["hidden_size"] // count
    orders = [torch.randperm(width, generator=generator) for _ in range(kept)]
    values = torch.cat([order + index * width for index, order in enumerate(orders)])
    repeated = [orders[head // (count // kept)] + head * width for head in range(count)]
    return values, torch.cat(repeated)
