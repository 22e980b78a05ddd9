"""Memory that a model needs by its shape: cache of a position, workspace of a pass, the rest.

The terms follow what one pass allocates (``runner``, ``packed``, ``attention``); the test of this
room compares them with the memory that real passes take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from split_server.checkpoint.families import family_of
from split_server.engine.model.info import kv_bytes_per_position
from split_server.errors import MalformedCheckpoint
from split_server.kv.capacity import capacity_for, capacity_within

_F32 = 4
# Alive at once in a decoder layer: the stream, its residual, the normed copy, the packed input.
_STREAMS = 4
# The gated MLP holds act(gate), up and their product: [n, I] each.
_MLP = 3
# Queries or keys while rotary embedding is applied: themselves, the rotated half, two products and
# their sum; and the attended rows before and after they are joined.
_ROTARY = 5
# Boolean masks while the additive one is made from them: "sees" and "does not see".
_BOOLEANS = 2
# Where no fused kernel takes the mask, or caps scores, scores live in about three copies.
_SCORE_COPIES = 3
# The block of scores per query head that ``attention`` makes where a model caps them.
_SCORES_AT_ONCE = 1 << 18
# Positions of a piece of attention on a GPU, rows that decode together there, and how many times
# as many pieces as needed there may be.
_PIECE, _GPU_DECODE_ROWS, _PIECES_SPARE = 256, 64, 4
# Rows of the wire: the frame's own bytes, the writable copy, float32 values on the way out, the
# tensor's bytes and the reply frame.
_WIRE_COPIES = 5
# Of each row: its digest in the chain, and as an object until the step has ended.
_DIGEST_BYTES = 96


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Widths and counts of a decoder; ``item_bytes`` of the compute dtype.

    ``scores``: values of attention scores per query head that are held at once, 0 where a fused
    kernel holds none. ``gpu``: keys and values may be repeated for every query head of a layer,
    and attended in pieces whose sums are held.
    """

    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    max_context: int
    item_bytes: int
    kv_bytes_per_position: int
    windowed: bool = False
    scores: int = 0
    gpu: bool = False


def shape_of(config: Mapping[str, Any], item_bytes: int, device: str = "cpu") -> ModelShape:
    """The shape in a config.json. Raises UnsupportedFamily, MalformedCheckpoint."""
    full = family_of(config).completed(config)
    try:
        heads, hidden = int(full["num_attention_heads"]), int(full["hidden_size"])
        return ModelShape(
            hidden_size=hidden,
            intermediate_size=int(full["intermediate_size"]),
            num_layers=int(full["num_hidden_layers"]),
            num_heads=heads,
            num_kv_heads=int(full["num_key_value_heads"] or heads),
            head_dim=int(full["head_dim"] or hidden // heads),
            max_context=int(full["max_position_embeddings"]),
            item_bytes=item_bytes,
            kv_bytes_per_position=kv_bytes_per_position(config, item_bytes),
            windowed=bool(full.get("sliding_window")),
            scores=_SCORES_AT_ONCE if full.get("attn_logit_softcapping") else 0,
            gpu=device.startswith("cuda"),
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise MalformedCheckpoint(f"config.json lacks {error}") from error


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Bytes by rows and positions; ``max_rows`` of one pass.

    A pass of the scheduler has at most 256 rows on a processor.
    """

    shape: ModelShape
    max_rows: int = 272

    def cache_bytes(self, positions: int) -> int:
        """The buffers of a session that holds ``positions``."""
        return capacity_for(positions) * self.shape.kv_bytes_per_position

    def row_bytes(self, positions: int) -> int:
        """Keys and values of ``positions`` themselves, without spare room."""
        return positions * self.shape.kv_bytes_per_position

    def positions_within(self, room: int) -> int:
        """The most positions whose buffers take at most ``room`` bytes, within the context."""
        held = capacity_within(max(room, 0) // self.shape.kv_bytes_per_position)
        return min(held, self.shape.max_context)

    def workspace(self, rows: int, positions: int) -> int:
        """Bytes that a pass over ``rows`` holds at once besides caches, ``positions`` being the
        longest cache that takes part, its new rows included.
        """
        shape = self.shape
        width = shape.head_dim * shape.item_bytes
        heads = shape.num_heads + shape.num_kv_heads
        streams = _STREAMS * rows * shape.hidden_size * max(shape.item_bytes, _F32)
        mlp = _MLP * rows * shape.intermediate_size * shape.item_bytes
        attention = _ROTARY * rows * heads * width + self._scores(rows, positions)
        attention += self._gpu_attention(rows, positions)
        return streams + max(mlp, attention) + self._masks(rows, positions)

    def largest_workspace(self, positions: int) -> int:
        """:meth:`workspace` of the largest pass over sessions of up to ``positions``, while one of
        them grows.
        """
        longest = max(positions, self.max_rows)
        return self.workspace(self.max_rows, longest) + self.exchange(positions)

    def exchange(self, positions: int) -> int:
        """Buffers of one layer, which has old and new ones while its rows are copied."""
        return self.cache_bytes(positions) // self.shape.num_layers

    def wire(self, rows: int) -> int:
        """Copies of a step's rows on their way in and out, and their digests."""
        return rows * (_WIRE_COPIES * self.shape.hidden_size * _F32 + _DIGEST_BYTES)

    def _masks(self, rows: int, positions: int) -> int:
        if rows == 1:
            return 0
        kinds = 2 if self.shape.windowed else 1
        return rows * positions * (kinds * self.shape.item_bytes + _BOOLEANS)

    def _scores(self, rows: int, positions: int) -> int:
        if not self.shape.scores:
            return 0
        held = min(rows * positions, max(self.shape.scores, positions))
        return _SCORE_COPIES * self.shape.num_heads * held * _F32

    def _gpu_attention(self, rows: int, positions: int) -> int:
        """What the kernels of a GPU hold besides: see ``engine.gpu``."""
        shape = self.shape
        if not shape.gpu:
            return 0
        values = shape.num_heads * shape.head_dim
        repeated = 2 * values * positions * shape.item_bytes
        pieces = _PIECES_SPARE * (positions // _PIECE + 1)
        return max(repeated, min(rows, _GPU_DECODE_ROWS) * values * pieces * _F32)
