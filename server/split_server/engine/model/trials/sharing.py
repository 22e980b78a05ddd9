"""From how many sessions on it pays to read a common beginning together, measured at the start.

The longer it is, the fewer sessions it takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from split_server.engine.giving_way import working_seconds
from split_server.engine.model.attention import Masks, attend_one
from split_server.engine.model.loader import Backbone
from split_server.engine.model.shared import Own, attend_shared
from split_server.kv.buffers import Shape
from split_server.kv.sharing_rule import SharingRule

# Fewer sessions always lose: two kernels and a merge for each in place of one kernel.
_SESSIONS = (16, 8, 4)
_SHARED, _OWN = (512, 1024, 2048, 4096), 64
# Keys and values of a trial, all sessions together: beyond any cache, and far below a model.
_MOST_BYTES = 96 << 20
_ROUNDS = 7
# What gains less is not worth another order of sums.
_WORTH = 0.9
# Of values of about 1, which both ways round differently.
_CLOSE = {torch.float32: 1e-4, torch.bfloat16: 3e-2, torch.float16: 4e-3}


def sharing_rule(
    backbone: Backbone, clock: Callable[[], float] = working_seconds
) -> SharingRule | None:
    """From how many sessions on attention over a common beginning is quicker together, for the
    heads and the dtype of ``backbone``; None where it never is, or is not the same.

    On a thread of its own: it sets the number of that thread's threads.
    """
    if backbone.device.type != "cpu":
        return None
    torch.set_num_threads(backbone.threads)
    with torch.inference_mode():
        try:
            return _measured(_heads(backbone), backbone.dtype, clock)
        # The kernel is private to torch.
        except (RuntimeError, AttributeError, TypeError):
            return None


def _heads(backbone: Backbone) -> tuple[int, int, int]:
    """Of queries, of keys and values, and the width of one."""
    config: Any = getattr(backbone.module, "config", None)
    heads = int(config.num_attention_heads)
    kv_heads = int(getattr(config, "num_key_value_heads", None) or heads)
    return heads, kv_heads, int(getattr(config, "head_dim", None) or config.hidden_size // heads)


def _measured(
    heads: tuple[int, int, int], dtype: torch.dtype, clock: Callable[[], float]
) -> SharingRule | None:
    steps: list[tuple[int, int]] = []
    for length in _SHARED:
        trial = _Trial(heads, dtype, length)
        if not trial.sound():
            return None
        # What pays for a shorter beginning pays for a longer one.
        known = steps[-1][1] if steps else _SESSIONS[0] + 1
        least = known
        for count in (count for count in _SESSIONS if count < known and trial.fits(count)):
            if not trial.pays(count, clock):
                break
            least = count
        if least < known:
            steps.append((length, least))
        if least == _SESSIONS[-1]:
            break
    return SharingRule(tuple(steps)) if steps else None


class _Trial:
    """Random sessions of one layer, with ``shared`` positions in common."""

    def __init__(self, heads: tuple[int, int, int], dtype: torch.dtype, shared: int) -> None:
        self._heads, kv_heads, width = heads
        generator = torch.Generator().manual_seed(0)

        def random(*shape: int) -> torch.Tensor:
            return torch.randn(shape, generator=generator).to(dtype)

        cached: Shape = (1, kv_heads, shared + _OWN, width)
        self._most = max(1, _MOST_BYTES // (2 * math.prod(cached) * dtype.itemsize))
        sessions = range(min(self._most, max(_SESSIONS)))
        self._close, self._scaling, self._shared = _CLOSE[dtype], width**-0.5, shared
        self._queries = [random(1, kv_heads, self._heads // kv_heads, width) for _ in sessions]
        self._keys = [random(*cached) for _ in sessions]
        self._values = [random(*cached) for _ in sessions]

    def fits(self, count: int) -> bool:
        """Whether there are so many sessions."""
        return count <= self._most

    def sound(self) -> bool:
        """Whether both ways give the same."""
        keys, values = self._keys[0], self._values[0]
        private = attend_one(self._queries[0], keys, values, self._scaling)
        [shared] = self._together(1)
        difference = (private.flatten() - shared.flatten()).abs().max()
        return bool(difference <= self._close)

    def pays(self, count: int, clock: Callable[[], float]) -> bool:
        """Whether ``count`` sessions are quicker together."""
        apart = together = float("inf")
        for _ in range(_ROUNDS):
            began = clock()
            self._apart(count)
            between = clock()
            self._together(count)
            apart = min(apart, between - began)
            together = min(together, clock() - between)
        return together <= _WORTH * apart

    def _apart(self, count: int) -> None:
        for query, keys, values in zip(
            self._queries[:count], self._keys[:count], self._values[:count], strict=True
        ):
            attend_one(query, keys, values, self._scaling)

    def _together(self, count: int) -> list[torch.Tensor]:
        owns = []
        for number in range(count):
            query = self._queries[number].reshape(1, self._heads, 1, -1)
            own = (x[number][:, :, self._shared :] for x in (self._keys, self._values))
            owns.append(Own(query, *own))
        keys, values = (x[0][:, :, : self._shared] for x in (self._keys, self._values))
        return attend_shared(keys, values, owns, self._scaling, Masks())
