"""What is known of a model from its checkpoint's folder, before it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from split_server.checkpoint.folder import Checkpoint


@dataclass(frozen=True, slots=True)
class Card:
    """``size``: bytes of the weights on disk; None what the folder does not say."""

    family: str | None = None
    layers: int | None = None
    context: int | None = None
    hidden_size: int | None = None
    size: int | None = None


NO_CARD = Card()


def card_of(checkpoint: Checkpoint) -> Card:
    """Of a checkpoint that was opened. Raises OSError where it has just gone."""
    config = checkpoint.config
    family = config.get("model_type")
    return Card(
        family if isinstance(family, str) else None,
        _count(config, "num_hidden_layers"),
        _count(config, "max_position_embeddings"),
        _count(config, "hidden_size"),
        sum(file.stat().st_size for file in checkpoint.weight_files),
    )


def _count(config: Mapping[str, Any], name: str) -> int | None:
    value = config.get(name)
    return value if isinstance(value, int) and value > 0 else None
