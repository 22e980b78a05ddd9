"""The model as Kobold clients ask for it, and what this server can tell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from split_client.model.ends import DeviceEnds
from split_client.model.tokenizer import ModelTokenizer
from split_server.checkpoint.families import family_of
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.texts import chat_template
from split_server.compat.kobold.attention import FORMATS
from split_server.engine.model.info import ModelInfo

ATTENTION_VERSION = "1.0"
# The level of Kobold's own API that the classic paths follow, which clients compare.
UNITED_VERSION = "1.2.5"
KOBOLD_VERSION = "1.48"
_TEXTS = ("bos_token", "eos_token", "pad_token")
_DTYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "i8": "int8"}


def model_document(
    info: ModelInfo, ends: DeviceEnds, checkpoint: Checkpoint, name: str
) -> dict[str, Any]:
    """All fields of the specification and Kobold's ``result``; what a checkpoint lacks is null.

    Reads the checkpoint's texts. Raises MalformedCheckpoint.
    """
    config, tokens = checkpoint.config, ends.manifest.special_tokens
    ids = {name: _only(ends.tokenizer.encode(text)) for name, text in tokens.items()}
    return {
        "result": name,
        "model_name": name,
        "architecture": _architecture(config),
        "vocab_size": info.vocab_size,
        "num_layers": info.num_layers,
        "num_attention_heads": info.num_heads,
        "num_key_value_heads": _key_value_heads(config),
        "hidden_size": info.hidden_size,
        "max_position_embeddings": config.get("max_position_embeddings", info.max_context),
        "rope_theta": _rope_theta(config),
        "bos_token_id": _id(config, "bos_token_id", ids.get("bos_token")),
        "eos_token_id": _first(ids.get("eos_token"), info.eos_token_ids),
        "eos_token_ids": list(info.eos_token_ids),
        "special_tokens": special_tokens(tokens, ends.tokenizer),
        "chat_template": chat_template(checkpoint),
        "torch_dtype": _DTYPES[info.dtype],
        "context_length": info.max_context,
        "max_context_length": info.max_context,
    }


def attention_version() -> dict[str, Any]:
    """The parts of the attention API that are served."""
    return {
        "version": ATTENTION_VERSION,
        "attention": True,
        "binary_stream": "/api/extra/generate/stream/ws",
        "json_stream": "/api/v1/generate/stream",
        "event_stream": "/api/extra/generate/stream",
        "formats": list(FORMATS),
        "dtypes": ["float32", "float16"],
        "byte_order": "little",
    }


def special_tokens(
    named: Mapping[str, str], tokenizer: ModelTokenizer
) -> dict[str, str | int | None]:
    """What a model calls its special tokens (``named``), and the ids of the marks around a turn in
    ChatML; every key of the specification is there, null where the model has none.
    """
    marks = {"im_start_id": "<|im_start|>", "im_end_id": "<|im_end|>"}
    ids = {name: _only(tokenizer.encode(text)) for name, text in marks.items()}
    return {**dict.fromkeys(_TEXTS), **named, **ids}


def _only(ids: list[int]) -> int | None:
    return ids[0] if len(ids) == 1 else None


def _first(token: int | None, others: tuple[int, ...]) -> int | None:
    """``token``, else the first of ``others``."""
    return next(iter(others), None) if token is None else token


def _architecture(config: Mapping[str, Any]) -> str | None:
    match config.get("architectures"):
        case [str(name), *_]:
            return name
    return None


def _key_value_heads(config: Mapping[str, Any]) -> int:
    full = family_of(config).completed(config)
    return int(full["num_key_value_heads"] or full["num_attention_heads"])


def _rope_theta(config: Mapping[str, Any]) -> float | None:
    """Newer configs keep it in ``rope_parameters``, some by kind of layer."""
    rope = config.get("rope_parameters") or {}
    inner = rope.get("full_attention", rope)
    value = inner.get("rope_theta", config.get("rope_theta"))
    return None if value is None else float(value)


def _id(config: Mapping[str, Any], name: str, otherwise: int | None) -> int | None:
    value = config.get(name)
    return value if isinstance(value, int) else otherwise
