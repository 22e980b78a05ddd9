"""The architecture of the demo model: Qwen2, about two million parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import Qwen2Config, Qwen2ForCausalLM

from scripts.demo_model.corpus.examples import CONTEXT
from scripts.demo_model.tokenizer import END, END_OF_TEXT, VOCAB_SIZE

HIDDEN = 192


def build(tokenizer: Tokenizer, seed: int) -> Any:
    """A freshly initialised model in float32."""
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=VOCAB_SIZE,
        hidden_size=HIDDEN,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        rms_norm_eps=1e-6,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        tie_word_embeddings=True,
        use_sliding_window=False,
        bos_token_id=None,
        eos_token_id=tokenizer.token_to_id(END),
        pad_token_id=tokenizer.token_to_id(END_OF_TEXT),
    )
    return Qwen2ForCausalLM(config)


def save_model(model: Any, tokenizer: Tokenizer, folder: Path) -> None:
    """Write config, generation config and float16 weights; the tied LM head is not stored."""
    folder.mkdir(parents=True, exist_ok=True)
    config = model.config.to_diff_dict()
    config.update(
        architectures=["Qwen2ForCausalLM"],
        model_type="qwen2",
        dtype="float16",
        tie_word_embeddings=True,
        hidden_act="silu",
    )
    generation = {
        "do_sample": False,
        "eos_token_id": [tokenizer.token_to_id(END), tokenizer.token_to_id(END_OF_TEXT)],
        "pad_token_id": tokenizer.token_to_id(END_OF_TEXT),
        "max_new_tokens": 256,
    }
    _write_json(folder / "config.json", config)
    _write_json(folder / "generation_config.json", generation)
    state = {
        name: tensor.detach().to(torch.float16).contiguous()
        for name, tensor in sorted(model.state_dict().items())
        if name != "lm_head.weight"
    }
    save_file(state, str(folder / "model.safetensors"), metadata={"format": "pt"})


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", "utf-8")
