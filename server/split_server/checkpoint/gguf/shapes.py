"""The shapes that the tensors of a family have, for whoever hands a file on to another reader.

A reader in C++ ends its process where products do not fit each other, so nothing goes there whose
shapes are not those of the model's configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from split_server.checkpoint.gguf.blocks import BLOCKS
from split_server.checkpoint.gguf.index import Place
from split_server.errors import MalformedCheckpoint

Shape = tuple[int, ...]


def check_shapes(tensors: Mapping[str, Place], config: Mapping[str, Any]) -> None:
    """Raise MalformedCheckpoint for a tensor of another shape than ``config`` says, and for a norm
    or bias that is not float32, as ggml wants them.
    """
    known = _matrices(config)
    for name, place in tensors.items():
        layer, _, kind = name.rpartition(".")
        rows, columns = known[layer.rpartition(".")[2]]
        wanted: Shape = (rows, columns) if columns and kind == "weight" else (rows,)
        if place.shape != wanted:
            raise MalformedCheckpoint(
                f"{name} has the shape {list(place.shape)}, not {list(wanted)}"
            )
        if len(wanted) == 1 and BLOCKS[place.kind].name != "F32":
            raise MalformedCheckpoint(f"{name} is {BLOCKS[place.kind].name}, not F32")


def _matrices(config: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Rows and columns by the name of a part; norms have no columns."""
    width, inner = int(config["hidden_size"]), int(config["intermediate_size"])
    head = int(config["head_dim"])
    queries, keys = head * config["num_attention_heads"], head * config["num_key_value_heads"]
    joined = 2 if config["model_type"] == "phi3" else 1
    norms = ("attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm", "output_norm")
    table = (int(config["vocab_size"]), width)
    return {
        **dict.fromkeys(norms, (width, 0)),
        **dict.fromkeys(("attn_q_norm", "attn_k_norm"), (head, 0)),
        **dict.fromkeys(("token_embd", "output"), table),
        "attn_q": (queries, width),
        "attn_k": (keys, width),
        "attn_v": (keys, width),
        "attn_qkv": (queries + 2 * keys, width),
        "attn_output": (width, queries),
        "ffn_gate": (inner, width),
        "ffn_up": (joined * inner, width),
        "ffn_down": (width, inner),
    }
