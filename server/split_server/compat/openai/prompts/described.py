"""The tokenizer and the model as vLLM's and llama.cpp's clients ask for them."""

from __future__ import annotations

from typing import Any

from split_server.checkpoint.texts import chat_template
from split_server.compat.parts import Compat

_NAMED = ("bos_token", "eos_token", "pad_token", "unk_token")
_CLASS = "PreTrainedTokenizerFast"


def tokenizer_info(compat: Compat) -> dict[str, Any]:
    """As vLLM tells it; what the model does not have is null. Raises MalformedCheckpoint."""
    known = compat.generator.ends.manifest.special_tokens
    return {
        "tokenizer_class": _CLASS,
        **{name: known.get(name) for name in _NAMED},
        "chat_template": chat_template(compat.checkpoint),
        "model_max_length": compat.generator.info.max_context,
        "vocab_size": compat.generator.info.vocab_size,
    }


def props(compat: Compat) -> dict[str, Any]:
    """As llama.cpp tells it; of the model's place its name. Raises MalformedCheckpoint."""
    generator = compat.generator
    known = generator.ends.manifest.special_tokens
    defaults = generator.ends.defaults
    name = compat.name or generator.info.name
    params = {
        "temperature": defaults.temperature,
        "top_k": defaults.top_k,
        "top_p": defaults.top_p,
        "min_p": defaults.min_p,
        "repeat_penalty": defaults.repetition_penalty,
    }
    return {
        "default_generation_settings": {"n_ctx": generator.info.max_context, "params": params},
        "total_slots": generator.places.most,
        "model_alias": name,
        "model_path": name,
        "chat_template": chat_template(compat.checkpoint) or "",
        "bos_token": known.get("bos_token") or "",
        "eos_token": known.get("eos_token") or "",
        "modalities": {"vision": False, "audio": False},
        "build_info": "gatelink",
    }
