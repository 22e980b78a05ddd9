"""Facts of a loaded model that the rest of the server needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from split_server.checkpoint.families import family_of
from split_server.errors import MalformedCheckpoint
from split_wire.returned import INTERACTIVE_ROWS
from split_wire.tensor import WireDtype

STREAMED_ROWS = 32


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Names and sizes of a model.

    ``num_heads``: query heads of one layer; ``dtype``: the compute dtype by its wire name;
    ``kv_bytes_per_position``: all layers, keys and values; ``streamed``: layers that are read from
    disk in each pass, which with any of them takes about as long for many rows as for one.
    """

    name: str
    family: str
    hidden_size: int
    vocab_size: int
    num_layers: int
    num_heads: int
    max_context: int
    dtype: WireDtype
    eos_token_ids: tuple[int, ...]
    kv_bytes_per_position: int
    streamed: int = 0

    @property
    def interactive_rows(self) -> int:
        """With so many rows a step is served as one of a single row is."""
        return STREAMED_ROWS if self.streamed else INTERACTIVE_ROWS


def kv_bytes_per_position(config: Mapping[str, Any], item_bytes: int) -> int:
    """Bytes of keys and values of one position over all layers.

    Sliding-window layers count like all others: the cache keeps every position of theirs too.
    Raises UnsupportedFamily, MalformedCheckpoint.
    """
    full = family_of(config).completed(config)
    try:
        heads = int(full["num_attention_heads"])
        kv_heads = int(full["num_key_value_heads"] or heads)
        head_dim = int(full["head_dim"] or int(full["hidden_size"]) // heads)
        return 2 * int(full["num_hidden_layers"]) * kv_heads * head_dim * item_bytes
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise MalformedCheckpoint("config.json lacks the shape of the attention") from error
