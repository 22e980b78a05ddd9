"""Sizes that both ends bound the wire with."""

from __future__ import annotations

from split_wire.frame import MAX_HEADER_BYTES
from split_wire.tensor import ALIGNMENT

_PREFIX_BYTES = 8
_WIDEST_ITEM = 4


def frame_limit(hidden_size: int, max_rows: int) -> int:
    """The largest frame (bytes) with one tensor of ``max_rows`` rows of the widest dtype."""
    return _PREFIX_BYTES + MAX_HEADER_BYTES + ALIGNMENT + max_rows * hidden_size * _WIDEST_ITEM
