"""Checkpoints with the dimensions of real models and random weights, and one real model.

Speed and memory do not depend on what the weights say, so a benchmark needs no download;
``smollm2``, which is downloaded, shows it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

from scripts.real.model import real_model
from split_server.checkpoint.folder import EMBEDDED

REAL = "smollm2"
SHAPES: dict[str, dict[str, Any]] = {
    # Qwen2.5-0.5B: https://huggingface.co/Qwen/Qwen2.5-0.5B/blob/main/config.json
    "m": {
        "hidden_size": 896,
        "intermediate_size": 4864,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "vocab_size": 151_936,
        "max_position_embeddings": 32_768,
        "rope_theta": 1_000_000.0,
        "tie_word_embeddings": True,
    },
    # SmolLM2-360M: https://huggingface.co/HuggingFaceTB/SmolLM2-360M/blob/main/config.json
    "360m": {
        "hidden_size": 960,
        "intermediate_size": 2560,
        "num_hidden_layers": 32,
        "num_attention_heads": 15,
        "num_key_value_heads": 5,
        "vocab_size": 49_152,
        "max_position_embeddings": 8_192,
        "rope_theta": 100_000.0,
        "tie_word_embeddings": True,
    },
    # Qwen3-0.6B: https://huggingface.co/Qwen/Qwen3-0.6B/blob/main/config.json
    "0.6b": {
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151_936,
        "max_position_embeddings": 40_960,
        "rope_theta": 1_000_000.0,
        "tie_word_embeddings": True,
    },
    # Qwen2.5-1.5B: https://huggingface.co/Qwen/Qwen2.5-1.5B/blob/main/config.json
    "1.5b": {
        "hidden_size": 1536,
        "intermediate_size": 8960,
        "num_hidden_layers": 28,
        "num_attention_heads": 12,
        "num_key_value_heads": 2,
        "vocab_size": 151_936,
        "max_position_embeddings": 131_072,
        "rope_theta": 1_000_000.0,
        "tie_word_embeddings": True,
    },
    # Qwen2.5-7B: https://huggingface.co/Qwen/Qwen2.5-7B/blob/main/config.json
    "7b": {
        "hidden_size": 3584,
        "intermediate_size": 18_944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "vocab_size": 152_064,
        "max_position_embeddings": 131_072,
        "rope_theta": 1_000_000.0,
        "tie_word_embeddings": False,
    },
    "s": {
        "hidden_size": 256,
        "intermediate_size": 1024,
        "num_hidden_layers": 6,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "vocab_size": 8_192,
        "max_position_embeddings": 8_192,
        "tie_word_embeddings": True,
    },
    # SmolLM2-135M-Instruct, with its own weights (``served_checkpoint``): config.json of its folder
    REAL: {
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "vocab_size": 49_152,
        "max_position_embeddings": 8_192,
        "rope_theta": 100_000.0,
        "tie_word_embeddings": True,
    },
}
# The families of made-up shapes; Qwen2 where nothing is said.
_FAMILIES = {"360m": "llama", "0.6b": "qwen3"}
_ALPHABET = "etaoinshrdlcumwfgypbvkjxqz"
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def served_checkpoint(shape: str, folder: Path, dtype: str = "bfloat16") -> Path:
    """The embedded checkpoint for ``embedded``, the real model for ``smollm2`` (bfloat16, fetched
    the first time), else a random one in ``folder``.
    """
    if shape == REAL:
        return real_model()
    return EMBEDDED if shape == "embedded" else random_checkpoint(shape, folder, dtype)


def shape_config(shape: str) -> Any:
    """A configuration of ``shape``, without tokens that end a reply."""
    ends = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
    return AutoConfig.for_model(_FAMILIES.get(shape, "qwen2"), **SHAPES[shape], **ends)


def random_checkpoint(shape: str, folder: Path, dtype: str = "bfloat16") -> Path:
    """Write a checkpoint of ``shape`` with seeded random weights; a second call reuses it."""
    path = folder / f"random-{shape}-{dtype}"
    if (path / "complete").exists():
        return path
    path.mkdir(parents=True, exist_ok=True)
    config = shape_config(shape)
    torch.manual_seed(0)
    previous = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        model = AutoModelForCausalLM.from_config(config)
    finally:
        torch.set_default_dtype(previous)
    model.generation_config.do_sample = False
    model.save_pretrained(path)
    _write_tokenizer(path, SHAPES[shape]["vocab_size"])
    (path / "complete").touch()
    return path


def _write_tokenizer(path: Path, rows: int) -> None:
    """A byte-level BPE with as many entries as real ones have, so that its memory counts too."""
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    vocabulary = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges: list[tuple[str, str]] = []
    grown = 0
    stems = list(_ALPHABET)
    while len(vocabulary) + len(special) < rows - 290:
        stem, letter = stems[grown // len(_ALPHABET)], _ALPHABET[grown % len(_ALPHABET)]
        merges.append((stem, letter))
        stems.append(stem + letter)
        vocabulary.append(stem + letter)
        grown += 1
    bpe = models.BPE({token: i for i, token in enumerate(vocabulary)}, merges)
    tokenizer = Tokenizer(bpe)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", chat_template=_TEMPLATE
    ).save_pretrained(path)


def weight_bytes(path: Path) -> int:
    """Bytes of the embedding table, which a tied device end holds."""
    config = json.loads((path / "config.json").read_text())
    return int(config["vocab_size"]) * int(config["hidden_size"]) * 2
