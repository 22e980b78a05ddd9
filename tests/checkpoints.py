"""Tiny random checkpoints of real architectures, for tests that need a model, not its knowledge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
# Every room is tested with these; what a family changes is tested with all.
FAMILIES = ("qwen2", "llama", "gemma")
ALL_FAMILIES: tuple[str, ...] = (*FAMILIES, "qwen3", "mistral", "gemma2", "gemma3_text")
ALL_FAMILIES += ("phi", "phi3", "granite", "cohere", "cohere2", "olmo2", "starcoder2")
WINDOW = 16
_TEXT = [
    "What is split inference? The device holds the ends of a model and the server its middle.",
    "Hello, how are you today? A savings account pays interest; hidden states travel between.",
    "Grüße aus Köln, 東京 und Москва! 1 2 3 4 5 6 7 8 9 0",
]
_SHAPE: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    # Wide enough that greedy replies vary and neighbouring logits are far apart.
    "initializer_range": 0.3,
}
# Fields of each family, with values that its defaults and its other fields do not give by chance.
_OF_FAMILY: dict[str, dict[str, Any]] = {
    "qwen3": {"head_dim": 24},
    "mistral": {"sliding_window": WINDOW},
    "gemma": {"head_dim": 16},
    "gemma2": {
        "head_dim": 24,
        "query_pre_attn_scalar": 8,
        "sliding_window": WINDOW,
        "attn_logit_softcapping": 4.0,
        "final_logit_softcapping": 5.0,
    },
    "gemma3_text": {
        "head_dim": 24,
        "initializer_range": 0.2,
        "query_pre_attn_scalar": 8,
        "sliding_window": WINDOW,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        "final_logit_softcapping": 5.0,
    },
    "phi": {"partial_rotary_factor": 0.25},
    "phi3": {"partial_rotary_factor": 0.5, "sliding_window": WINDOW},
    "granite": {
        "embedding_multiplier": 3.3,
        "residual_multiplier": 0.6,
        "attention_multiplier": 0.1,
        # Not a power of two: multiplying by the inverse rounds differently.
        "logits_scaling": 1.7,
    },
    "starcoder2": {"sliding_window": WINDOW},
    "cohere": {"logit_scale": 0.7, "use_qk_norm": True},
    "cohere2": {
        "logit_scale": 0.7,
        "sliding_window": WINDOW,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    },
}


def tiny_checkpoint(
    family: str,
    path: Path,
    *,
    seed: int = 0,
    tied: bool = True,
    dtype: str = "float32",
    **overrides: Any,
) -> Path:
    """Write a random checkpoint to ``path``; ``family`` is a causal ``model_type`` of transformers.

    A byte-level BPE tokenizer with a ChatML template comes with it. ``dtype`` is what the tensors
    are stored in, ``overrides`` are fields of the model's configuration. The same arguments give
    the same tensors.
    """
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

    tokenizer = tiny_tokenizer(path)
    end = tokenizer.token_to_id("<|im_end|>")
    shape = _SHAPE | {
        "vocab_size": tokenizer.get_vocab_size() + 5,
        "tie_word_embeddings": tied,
        "bos_token_id": 0,
        "eos_token_id": end,
        "pad_token_id": 0,
    }
    config = AutoConfig.for_model(family, **(shape | _OF_FAMILY.get(family, {}) | overrides))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        _fill_biases(model)
    model.generation_config = GenerationConfig(
        bos_token_id=0,
        eos_token_id=[end, 0],
        pad_token_id=0,
        do_sample=True,
        temperature=0.7,
        top_k=20,
    )
    model.to(getattr(torch, dtype)).save_pretrained(path)
    return path


def _fill_biases(model: Any) -> None:
    """Biases start at zero, where a forgotten one would not be noticed."""
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.data.normal_(0.0, 0.2)


def tiny_tokenizer(path: Path) -> Any:
    """Write a small byte-level BPE tokenizer with its configuration to ``path`` and return it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    path.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_TEXT, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<|endoftext|>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=CHAT_TEMPLATE,
    )
    fast.save_pretrained(path)
    return tokenizer
