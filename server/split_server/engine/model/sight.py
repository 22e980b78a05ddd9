"""What the new rows of a session see where some of its earlier rows are hidden.

Keys and values of hidden positions lie elsewhere, so those that a pass works with are fewer than
the session's positions, and their places among each other say nothing of how far apart they are.
A sliding window counts positions.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch.nn import functional

from split_server.engine.model.attention import softcapped_rows
from split_server.kv.visible.cold import hidden_among
from split_wire.hiding.spans import Spans


class Sight:
    """Of rows at the positions from ``start`` to ``end``, which see all but ``hidden`` ones."""

    def __init__(self, hidden: Spans, start: int, end: int) -> None:
        self._hidden, self._start, self._end = hidden, start, end
        self._masks: dict[int, tuple[int, torch.Tensor]] = {}
        self._lasts: dict[int, int] = {}

    @cached_property
    def positions(self) -> torch.Tensor:
        """Those that are not hidden, int64, ascending."""
        return (~hidden_among(self._hidden, self._end)).nonzero()[:, 0]

    def narrows(self, window: int | None) -> bool:
        """Whether some row does not see what lies before its ``window``."""
        return window is not None and window < self._end

    def last(self, window: int) -> int:
        """How many rows that are not hidden the last row's ``window`` has, itself included."""
        found = self._lasts.get(window)
        if found is None:
            first = int(torch.searchsorted(self.positions, self._end - window))
            found = self._lasts[window] = len(self.positions) - first
        return found

    def within(self, window: int) -> tuple[int, torch.Tensor]:
        """The place of the first row that any of them sees in its ``window``, and which of those
        from there on each sees, bool [rows, seen].
        """
        found = self._masks.get(window)
        if found is None:
            first = int(torch.searchsorted(self.positions, self._start - window + 1))
            places = self.positions[first:]
            own = torch.arange(self._start, self._end)[:, None]
            found = first, (places <= own) & (places > own - window)
            self._masks[window] = found
        return found


def attend_sighted(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scaling: float,
    window: int,
    softcap: float | None,
    sight: Sight,
) -> torch.Tensor:
    """As :func:`attend_many` with a ``window`` of positions, where ``keys`` and ``values`` are
    those of the rows that are not hidden.
    """
    first, seen = sight.within(window)
    seen = seen.to(query.device)
    keys, values = keys[:, :, first:], values[:, :, first:]
    if softcap is not None:
        return softcapped_rows(query, keys, values, scaling, seen, softcap)
    return functional.scaled_dot_product_attention(
        query, keys, values, seen, scale=scaling, enable_gqa=True
    )
