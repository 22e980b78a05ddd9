"""Hugging Face's model of the same folder, and what is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, DynamicCache


def stock(folder: Path, dtype: str = "float32", attention: str = "sdpa") -> Any:
    """The whole model."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return AutoModelForCausalLM.from_pretrained(
        folder, dtype=getattr(torch, dtype), attn_implementation=attention
    ).eval()


@torch.inference_mode()
def states(model: Any, ids: Sequence[int], cache: DynamicCache | None = None) -> torch.Tensor:
    """Final hidden states [n, H] of ``ids`` after what ``cache`` holds."""
    out = model.model(torch.tensor([list(ids)]), past_key_values=cache, use_cache=cache is not None)
    found: torch.Tensor = out.last_hidden_state[0]
    return found


@torch.inference_mode()
def logits(model: Any, ids: Sequence[int]) -> torch.Tensor:
    """Logits [n, vocabulary] after every position, in the model's dtype."""
    found: torch.Tensor = model(torch.tensor([list(ids)])).logits[0]
    return found


def greedy(
    model: Any, table: torch.Tensor, cache: DynamicCache, ids: Sequence[int], most: int, end: int
) -> list[int]:
    """The ids that follow ``ids`` after what ``cache`` holds, up to ``end`` or ``most`` of them."""
    made: list[int] = []
    while len(made) < most:
        last = states(model, ids, cache)[-1]
        made.append(int((table @ last.float()).argmax()))
        if made[-1] == end:
            break
        ids = made[-1:]
    return made
