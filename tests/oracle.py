"""The truth that everything is compared with: Hugging Face `generate` on the same checkpoint."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


@cache
def model(path: Path) -> Any:
    """The whole model in float32."""
    return AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()


@cache
def tokenizer(path: Path) -> Any:
    """The tokenizer beside the model."""
    return AutoTokenizer.from_pretrained(path)


def greedy(path: Path, prompt: list[int], count: int) -> list[int]:
    """The ids that follow ``prompt``, at most ``count``, ending with an end-of-sequence id if one
    comes.
    """
    return list(_greedy(path, tuple(prompt), count))


def forget() -> None:
    """To be called by what changes a model for a while: replies are kept otherwise."""
    _greedy.cache_clear()


@lru_cache(maxsize=1000)
def _greedy(path: Path, prompt: tuple[int, ...], count: int) -> tuple[int, ...]:
    ids = torch.tensor([prompt])
    with torch.inference_mode():
        out = model(path).generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, do_sample=False
        )
    return tuple(int(token) for token in out[0, len(prompt) :])


def logits(path: Path, ids: list[int]) -> torch.Tensor:
    """Logits after every position, [len(ids), vocabulary]."""
    with torch.inference_mode():
        found: torch.Tensor = model(path)(torch.tensor([ids])).logits[0]
        return found


def embeddings(path: Path, ids: list[int]) -> torch.Tensor:
    """What the decoder layers are fed with for ``ids``, [n, H] (already scaled where the family
    does).
    """
    with torch.inference_mode():
        found: torch.Tensor = model(path).get_input_embeddings()(torch.tensor(ids))
        return found


def head(path: Path, hidden: torch.Tensor) -> torch.Tensor:
    """Logits of final-norm hidden states, scaled and capped where the family does so."""
    config = model(path).config
    with torch.inference_mode():
        logits: torch.Tensor = model(path).get_output_embeddings()(hidden)
        logits = logits * getattr(config, "logit_scale", 1.0)
        logits = logits / getattr(config, "logits_scaling", 1.0)
        cap = getattr(config, "final_logit_softcapping", None)
        return logits if cap is None else torch.tanh(logits / cap) * cap
