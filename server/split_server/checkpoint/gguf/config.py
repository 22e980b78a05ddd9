"""config.json and generation_config.json of a GGUF, from its metadata.

Keys are those of https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from split_server.checkpoint.families import FAMILIES
from split_server.checkpoint.gguf.values import Metadata
from split_server.errors import MalformedCheckpoint, UnsupportedFamily

Config = dict[str, Any]
_MAX_LAYERS, _MAX_SIDE = 1024, 1 << 20
# ggml's name of the architecture -> the family here.
_FAMILIES = {
    "llama": "llama",
    "mistral": "mistral",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "phi3": "phi3",
    "starcoder2": "starcoder2",
    "gemma2": "gemma2",
    "gemma3": "gemma3_text",
}
# Of these the largest size scales queries by another number than the width of a head.
_LARGEST = {"gemma2": 46, "gemma3_text": 62}


def model_config(metadata: Metadata, *, vocabulary: int, tied: bool) -> Config:
    """``vocabulary``: rows of the embedding table.

    Raises MalformedCheckpoint, UnsupportedFamily.
    """
    prefix = metadata.text("general.architecture")
    family = _family(metadata, prefix)
    config = _shape(metadata, prefix) | {
        "model_type": family,
        "vocab_size": vocabulary,
        "tie_word_embeddings": tied,
        "torch_dtype": "bfloat16",
    }
    config |= _rotary(metadata, prefix, family, config["head_dim"])
    config |= _ADDED.get(family, _nothing)(metadata, prefix, config)
    return config | _special_ids(metadata)


def generation_config(metadata: Metadata, vocabulary: int) -> Config:
    """What ends a reply, and the sampling that the file's makers name, if they do."""
    ends = [f"tokenizer.ggml.{name}_token_id" for name in ("eos", "eot", "eom")]
    ids = dict.fromkeys(metadata.integer(key) for key in ends if key in metadata)
    if any(number >= vocabulary for number in ids):
        raise MalformedCheckpoint("a token that ends a reply is not in the vocabulary")
    found: Config = {"eos_token_id": list(ids)} if ids else {}
    for key, name in {"temp": "temperature", "top_p": "top_p", "min_p": "min_p"}.items():
        if f"general.sampling.{key}" in metadata:
            found[name] = metadata.number(f"general.sampling.{key}")
    if "general.sampling.top_k" in metadata:
        found["top_k"] = metadata.integer("general.sampling.top_k")
    return found


def _family(metadata: Metadata, architecture: str) -> str:
    family = _FAMILIES.get(architecture)
    if family is None:
        why = "none was at hand to test against" if architecture in FAMILIES else ""
        raise UnsupportedFamily(f"{architecture} in GGUF", sorted(_FAMILIES), why)
    # Files of Mistral are of ggml's architecture llama.
    if family == "llama" and "mistral" in metadata.text("general.name", "").lower():
        return "mistral"
    return family


def _shape(metadata: Metadata, prefix: str) -> Config:
    def size(key: str, default: int | None = None, most: int = _MAX_SIDE) -> int:
        value = metadata.integer(f"{prefix}.{key}", default, least=1)
        if value > most:
            raise MalformedCheckpoint(f"{prefix}.{key} is {value:,}; at most {most:,} is read")
        return value

    heads = size("attention.head_count")
    hidden = size("embedding_length")
    groups = size("attention.head_count_kv", heads)
    width = size("attention.key_length", max(1, hidden // heads))
    if size("attention.value_length", width) != width:
        raise MalformedCheckpoint("keys and values of different widths are not read")
    if heads % groups:
        raise MalformedCheckpoint(f"{heads} heads do not share {groups} heads of keys evenly")
    return {
        "hidden_size": hidden,
        "intermediate_size": size("feed_forward_length"),
        "num_hidden_layers": size("block_count", most=_MAX_LAYERS),
        "num_attention_heads": heads,
        "num_key_value_heads": groups,
        "head_dim": width,
        "max_position_embeddings": size("context_length", most=1 << 30),
    }


def _rotary(metadata: Metadata, prefix: str, family: str, width: int) -> Config:
    """The rotary embedding; one that is scaled in a way that is not read refuses the file."""
    default = 1_000_000.0 if family == "gemma3_text" else 10_000.0
    config: Config = {"rope_theta": metadata.number(f"{prefix}.rope.freq_base", default)}
    if not config["rope_theta"] > 0:
        raise MalformedCheckpoint(f"{prefix}.rope.freq_base is not above 0")
    if metadata.integer(f"{prefix}.rope.dimension_count", width) != width:
        raise MalformedCheckpoint("a rotary embedding of a part of each head is not read")
    kind = metadata.text(f"{prefix}.rope.scaling.type", "none")
    if kind == "linear":
        factor = metadata.number(f"{prefix}.rope.scaling.factor")
        if not factor > 0:
            raise MalformedCheckpoint(f"{prefix}.rope.scaling.factor is not above 0")
        config["rope_scaling"] = {"rope_type": "linear", "factor": factor}
    elif kind != "none":
        raise MalformedCheckpoint(
            f"a rotary embedding that is scaled by {kind!r} is not read from GGUF; "
            "serve the safetensors of this model"
        )
    return config


def _rms(metadata: Metadata, prefix: str, config: Config) -> Config:  # noqa: ARG001
    return {"rms_norm_eps": metadata.number(f"{prefix}.attention.layer_norm_rms_epsilon")}


def _mistral(metadata: Metadata, prefix: str, config: Config) -> Config:
    window = metadata.integer(f"{prefix}.attention.sliding_window", 0)
    return _rms(metadata, prefix, config) | {"sliding_window": window or None}


def _phi3(metadata: Metadata, prefix: str, config: Config) -> Config:
    original = f"{prefix}.rope.scaling.original_context_length"
    longest = config["max_position_embeddings"]
    return _mistral(metadata, prefix, config) | {
        "original_max_position_embeddings": metadata.integer(original, longest, least=1),
        "pad_token_id": None,
    }


def _starcoder2(metadata: Metadata, prefix: str, config: Config) -> Config:  # noqa: ARG001
    return {
        "norm_epsilon": metadata.number(f"{prefix}.attention.layer_norm_epsilon"),
        "use_bias": True,
        "sliding_window": metadata.integer(f"{prefix}.attention.sliding_window", 0) or None,
    }


def _gemma(metadata: Metadata, prefix: str, config: Config) -> Config:
    largest = config["num_hidden_layers"] == _LARGEST[config["model_type"]]
    scaled_by = config["hidden_size"] // config["num_attention_heads"]
    return _rms(metadata, prefix, config) | {
        "query_pre_attn_scalar": scaled_by if largest else config["head_dim"],
        "sliding_window": metadata.integer(f"{prefix}.attention.sliding_window", least=1),
    }


def _gemma2(metadata: Metadata, prefix: str, config: Config) -> Config:
    return _gemma(metadata, prefix, config) | {
        "attn_logit_softcapping": metadata.number(f"{prefix}.attn_logit_softcapping", 50.0),
        "final_logit_softcapping": metadata.number(f"{prefix}.final_logit_softcapping", 30.0),
    }


def _gemma3(metadata: Metadata, prefix: str, config: Config) -> Config:
    return _gemma(metadata, prefix, config) | {
        "rope_local_base_freq": metadata.number(f"{prefix}.rope.freq_base_swa", 10_000.0),
        "sliding_window_pattern": 6,
    }


def _nothing(metadata: Metadata, prefix: str, config: Config) -> Config:  # noqa: ARG001
    return {}


_ADDED: Mapping[str, Callable[[Metadata, str, Config], Config]] = {
    "llama": _rms,
    "mistral": _mistral,
    "qwen2": _rms,
    "qwen3": _rms,
    "phi3": _phi3,
    "starcoder2": _starcoder2,
    "gemma2": _gemma2,
    "gemma3_text": _gemma3,
}


def _special_ids(metadata: Metadata) -> Config:
    named = {"bos": "bos", "eos": "eos", "padding": "pad"}
    keys = {f"{new}_token_id": f"tokenizer.ggml.{old}_token_id" for old, new in named.items()}
    return {name: metadata.integer(key) for name, key in keys.items() if key in metadata}
