"""Model families and what the device must do at their ends.

A family is listed here when its decoder layers need nothing but hidden states and positions, and
its ends are an embedding table (maybe scaled) and a linear head (maybe with bias, softcap or
scale).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from split_server.checkpoint.unsplittable import reason_against, ruling_option
from split_server.errors import MalformedCheckpoint, UnsupportedFamily

EMBEDDING = "model.embed_tokens.weight"
HEAD = "lm_head.weight"
# What their rows are called where they are served.
EMBEDDING_FILE = "embedding.bin"
HEAD_FILE = "head.bin"
HEAD_BIAS = "lm_head.bias"
_CAP = "final_logit_softcapping"
# What every family means by a field that config.json leaves out, unless it says otherwise.
_DEFAULTS: Mapping[str, Any] = {
    "tie_word_embeddings": False,
    "num_key_value_heads": None,
    "head_dim": None,
    _CAP: None,
}


@dataclass(frozen=True, slots=True)
class EndsSpec:
    """Tensor names of the ends and the arithmetic around them; ``head == embedding`` when tied.

    Logits are multiplied by ``logit_scale`` and divided by ``logit_divisor``; at most one is not 1.
    """

    embedding: str
    head: str
    head_bias: str | None = None
    embedding_scale: float | None = None
    softcap: float | None = None
    logit_scale: float = 1.0
    logit_divisor: float = 1.0


@dataclass(frozen=True, slots=True)
class Family:
    """One architecture, by its ``model_type``.

    ``defaults``: its own meaning of fields that config.json leaves out, as in transformers;
    ``scaled``: embedding rows are multiplied by sqrt(hidden_size); ``softcapped``: logits are
    capped by ``final_logit_softcapping``; ``biased``: the head has a bias; ``multiplied_by`` and
    ``divided_by``: the field of config.json by whose value logits are multiplied or divided.
    """

    name: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    scaled: bool = False
    softcapped: bool = False
    biased: bool = False
    multiplied_by: str | None = None
    divided_by: str | None = None

    def completed(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """``config`` with what it leaves out of ties, head shapes and caps."""
        return {**_DEFAULTS, **self.defaults, **config}

    def ends(self, config: Mapping[str, Any], tensors: Mapping[str, Any]) -> EndsSpec:
        """The ends of a checkpoint. Raises MalformedCheckpoint."""
        full = self.completed(config)
        head = EMBEDDING if full["tie_word_embeddings"] else HEAD
        bias = HEAD_BIAS if self.biased else None
        for name in filter(None, (EMBEDDING, head, bias)):
            if name not in tensors:
                raise MalformedCheckpoint(f"the checkpoint has no tensor {name}")
        capped = self.softcapped and full[_CAP] is not None
        return EndsSpec(
            EMBEDDING,
            head,
            head_bias=bias,
            embedding_scale=math.sqrt(int(config["hidden_size"])) if self.scaled else None,
            softcap=_positive(full, _CAP) if capped else None,
            logit_scale=_positive(full, self.multiplied_by),
            logit_divisor=_positive(full, self.divided_by),
        )


def _positive(config: Mapping[str, Any], name: str | None) -> float:
    """The field ``name``, 1.0 where a family has none."""
    if name is None:
        return 1.0
    value = config.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise MalformedCheckpoint(f"{name} of config.json is not above 0")
    return float(value)


_GEMMA: Mapping[str, Any] = {"tie_word_embeddings": True, "head_dim": 256}
_COHERE: Mapping[str, Any] = {"tie_word_embeddings": True, "logit_scale": 0.0625}
FAMILIES = {
    family.name: family
    for family in (
        Family("qwen2", {"num_key_value_heads": 32}),
        Family("qwen3", {"num_key_value_heads": 32, "head_dim": 128}),
        Family("llama"),
        Family("mistral", {"num_key_value_heads": 8}),
        Family("gemma", {**_GEMMA, "num_key_value_heads": 16}, scaled=True),
        Family(
            "gemma2",
            {**_GEMMA, "num_key_value_heads": 4, _CAP: 30.0},
            scaled=True,
            softcapped=True,
        ),
        Family("gemma3_text", {**_GEMMA, "num_key_value_heads": 4}, scaled=True, softcapped=True),
        Family("phi", biased=True),
        Family("phi3"),
        # Its embedding_multiplier belongs to the middle: the model applies it to the rows it gets.
        Family("granite", {"logits_scaling": 1.0}, divided_by="logits_scaling"),
        Family("cohere", _COHERE, multiplied_by="logit_scale"),
        Family("cohere2", _COHERE, multiplied_by="logit_scale"),
        Family("olmo2"),
        Family("starcoder2", {"tie_word_embeddings": True, "num_key_value_heads": 2}),
    )
}


def family_of(config: Mapping[str, Any]) -> Family:
    """The family of a checkpoint's config. Raises UnsupportedFamily, which says why."""
    name = str(config.get("model_type", "unknown"))
    if name not in FAMILIES:
        raise UnsupportedFamily(name, sorted(FAMILIES), reason_against(config))
    option = ruling_option(config)
    if option is not None:
        raise UnsupportedFamily(f"{name} with {option.name}", sorted(FAMILIES), option.reason)
    return FAMILIES[name]
