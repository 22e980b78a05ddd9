"""Greedy tokens with an adapter, by transformers and float64: what every other way must equal.

The decoder layers run in float32 in transformers; the adapter and the LM head's products are
float64, so that no rounding of theirs decides between two tokens.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache

from scripts.demo_model.training.adapter import Adapter


@torch.inference_mode()
def adapted_tokens(
    model: Any, adapter: Adapter, prompt: list[int], ends: frozenset[int], count: int
) -> list[int]:
    """At most ``count`` ids after ``prompt``, the last of them an end where one comes."""
    a, b = adapter.a.double(), adapter.b.double()
    head = model.get_output_embeddings().weight.double()
    cache, given, made = DynamicCache(config=model.config), prompt, list[int]()
    while len(made) < count and not (made and made[-1] in ends):
        states = model.model(
            input_ids=torch.tensor([given]), past_key_values=cache, use_cache=True
        ).last_hidden_state
        hidden = states[0, -1].double()
        adapted = hidden + adapter.scale * (b @ (a @ hidden))
        made.append(int(torch.argmax(head @ adapted)))
        given = made[-1:]
    return made
