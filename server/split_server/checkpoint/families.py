"""Model families and what the device must do at their ends.

A family is listed here when its decoder layers need nothing but hidden states and positions, and
its ends are an embedding table (maybe scaled) and a linear head (maybe with bias, softcap or
scale).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from split_server.errors import MalformedCheckpoint, UnsupportedFamily

EMBEDDING = "model.embed_tokens.weight"
HEAD = "lm_head.weight"
_PER_LAYER_INPUTS = "its layers need the token ids themselves, so it cannot be split"
_UNSPLITTABLE = {
    "gemma3n": _PER_LAYER_INPUTS,
    "gemma3n_text": _PER_LAYER_INPUTS,
    "gemma4": _PER_LAYER_INPUTS,
}


@dataclass(frozen=True, slots=True)
class EndsSpec:
    """Tensor names of the ends and the arithmetic around them; ``head == embedding`` when tied."""

    embedding: str
    head: str
    head_bias: str | None = None
    embedding_scale: float | None = None
    softcap: float | None = None
    logit_scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Family:
    """``scale_of(config)``: factor on embedding rows, None when there is none."""

    name: str
    scale_of: Callable[[Mapping[str, Any]], float | None] = lambda _: None
    tied_by_default: bool = False

    def ends(self, config: Mapping[str, Any], tensors: Mapping[str, Any]) -> EndsSpec:
        """The ends of a checkpoint. Raises MalformedCheckpoint when a tensor is missing."""
        tied = config.get("tie_word_embeddings", self.tied_by_default)
        head = EMBEDDING if tied else HEAD
        for name in {EMBEDDING, head}:
            if name not in tensors:
                raise MalformedCheckpoint(f"the checkpoint has no tensor {name}")
        return EndsSpec(EMBEDDING, head, embedding_scale=self.scale_of(config))


def _sqrt_hidden(config: Mapping[str, Any]) -> float:
    return math.sqrt(int(config["hidden_size"]))


FAMILIES = {
    family.name: family
    for family in (
        Family("qwen2"),
        Family("llama"),
        Family("gemma", scale_of=_sqrt_hidden, tied_by_default=True),
    )
}


def family_of(config: Mapping[str, Any]) -> Family:
    """The family of a checkpoint's config. Raises UnsupportedFamily, by name."""
    name = str(config.get("model_type", "unknown"))
    if name in FAMILIES:
        return FAMILIES[name]
    raise UnsupportedFamily(name, sorted(FAMILIES), _UNSPLITTABLE.get(name, ""))
