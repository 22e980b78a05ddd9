"""GGUF files for tests: a checkpoint's folder as llama.cpp's converter writes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from safetensors.numpy import load_file

ARCHITECTURES = {"mistral": "llama", "gemma3_text": "gemma3"}
# What GGUF cannot say, or says by the size of the model, is left as it is there.
OVERRIDES: dict[str, dict[str, Any]] = {
    "gemma2": {"query_pre_attn_scalar": 24},
    "gemma3_text": {
        "query_pre_attn_scalar": 24,
        "num_hidden_layers": 7,
        "layer_types": [*["sliding_attention"] * 5, "full_attention", "sliding_attention"],
        "final_logit_softcapping": None,
    },
    "phi3": {"partial_rotary_factor": 1.0},
}
Tensors = dict[str, np.ndarray[Any, Any]]


def as_gguf(
    folder: Path,
    target: Path,
    *,
    named: str = "Tiny",
    metadata: Mapping[str, Any] | None = None,
    change: Callable[[Tensors], Tensors] | None = None,
    q8_0: Collection[str] = (),
) -> Path:
    """Write ``target`` from a folder of float32 safetensors with a byte-level BPE tokenizer.

    ``metadata``: added keys, or other values of those that are there; ``change``: is given the
    tensors by their names in the file; ``q8_0``: the tensors that are quantised so.
    """
    config = json.loads((folder / "config.json").read_text())
    family = config["model_type"]
    architecture = ARCHITECTURES.get(family, family)
    values = _described(config, architecture, named) | _tokenizer(folder) | dict(metadata or {})
    tensors = _tensors(folder, config, architecture)
    return write_gguf(target, values, change(tensors) if change else tensors, q8_0)


def write_gguf(
    target: Path, values: Mapping[str, Any], tensors: Tensors, q8_0: Collection[str] = ()
) -> Path:
    """A file with such metadata and tensors; a value is a bool, int, float, str or list."""
    writer = gguf.GGUFWriter(target, str(values["general.architecture"]))
    for key, value in values.items():
        if key != "general.architecture" and value is not None:
            _add(writer, key, value)
    for name, tensor in tensors.items():
        kind = gguf.GGMLQuantizationType.Q8_0 if name in q8_0 else None
        stored = tensor if kind is None else gguf.quants.quantize(tensor, kind)
        writer.add_tensor(name, stored, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def _add(writer: Any, key: str, value: Any) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


def _described(config: Mapping[str, Any], architecture: str, named: str) -> dict[str, Any]:
    rope = config.get("rope_parameters") or {}
    theta = rope.get("full_attention", rope).get("rope_theta", 10_000.0)
    of_model = {
        "block_count": config["num_hidden_layers"],
        "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"],
        "feed_forward_length": config["intermediate_size"],
        "attention.head_count": config["num_attention_heads"],
        "attention.head_count_kv": config["num_key_value_heads"],
        "attention.key_length": config.get("head_dim"),
        "attention.value_length": config.get("head_dim"),
        "attention.layer_norm_rms_epsilon": config.get("rms_norm_eps"),
        "attention.layer_norm_epsilon": config.get("norm_epsilon"),
        "attention.sliding_window": config.get("sliding_window"),
        "rope.freq_base": float(theta),
        "attn_logit_softcapping": config.get("attn_logit_softcapping"),
        "final_logit_softcapping": config.get("final_logit_softcapping"),
    }
    return {
        "general.architecture": architecture,
        "general.name": named,
        "general.license": "cc0-1.0",
        **{f"{architecture}.{key}": value for key, value in of_model.items()},
    }


def _tokenizer(folder: Path) -> dict[str, Any]:
    document = json.loads((folder / "tokenizer.json").read_text())
    ids = document["model"]["vocab"]
    added = {token["id"]: token["content"] for token in document["added_tokens"]}
    pieces = {number: piece for piece, number in ids.items()} | added
    ordered = [pieces[number] for number in range(len(pieces))]
    ends = [number for number, piece in added.items() if piece == "<|im_end|>"]
    merges = document["model"]["merges"]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": ordered,
        "tokenizer.ggml.token_type": [3 if n in added else 1 for n in range(len(ordered))],
        "tokenizer.ggml.merges": [m if isinstance(m, str) else " ".join(m) for m in merges],
        "tokenizer.ggml.bos_token_id": 0,
        "tokenizer.ggml.eos_token_id": ends[0] if ends else 2,
        "tokenizer.ggml.padding_token_id": 0,
        "tokenizer.chat_template": (folder / "chat_template.jinja").read_text(),
    }


def _tensors(folder: Path, config: Mapping[str, Any], architecture: str) -> Tensors:
    number = next(n for n, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(number, config["num_hidden_layers"])
    found: Tensors = {}
    for name, values in load_file(folder / "model.safetensors").items():
        new = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert new is not None, name
        found[new] = _converted(new, values, config, architecture)
    return found


def _converted(
    name: str, values: np.ndarray[Any, Any], config: Mapping[str, Any], architecture: str
) -> np.ndarray[Any, Any]:
    if architecture == "llama" and ".attn_q." in name:
        return _interleaved(values, config["num_attention_heads"])
    if architecture == "llama" and ".attn_k." in name:
        return _interleaved(values, config["num_key_value_heads"])
    if architecture.startswith("gemma") and name.endswith("norm.weight"):
        return values + np.float32(1)
    return values


def _interleaved(values: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """Pairs of the rotary embedding beside each other in each head, as ggml turns them."""
    split = values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:])
    return split.swapaxes(1, 2).reshape(values.shape)
