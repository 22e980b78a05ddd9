"""From how many sessions on it pays to read a common beginning together, measured at the start."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from split_server.engine.model.attention import Masks, attend_one
from split_server.engine.model.loader import Backbone
from split_server.engine.model.shared import Own, attend_shared
from split_server.kv.buffers import Shape

# Fewer sessions always lose: two kernels and a merge for each in place of one kernel.
_SESSIONS = (4, 8, 16)
_SHARED, _OWN = 512, 64
_ROUNDS = 7
# What gains less is not worth another order of sums.
_WORTH = 0.9
# Of values of about 1, which both ways round differently.
_CLOSE = {torch.float32: 1e-4, torch.bfloat16: 3e-2, torch.float16: 4e-3}


def least_sharing(backbone: Backbone, clock: Callable[[], float] = time.perf_counter) -> int | None:
    """Sessions from which on attention over a common beginning is quicker together, for the heads
    and the dtype of ``backbone``; None where it never is, or is not the same.

    On a thread of its own: it sets the number of that thread's threads.
    """
    config: Any = getattr(backbone.module, "config", None)
    if backbone.device.type != "cpu":
        return None
    torch.set_num_threads(backbone.threads)
    heads = int(config.num_attention_heads)
    kv_heads = int(getattr(config, "num_key_value_heads", None) or heads)
    width = int(getattr(config, "head_dim", None) or int(config.hidden_size) // heads)
    with torch.inference_mode():
        trial = _Trial(heads, kv_heads, width, backbone.dtype)
        try:
            if not trial.sound():
                return None
        # The kernel is private to torch.
        except (RuntimeError, AttributeError, TypeError):
            return None
        return next((count for count in _SESSIONS if trial.pays(count, clock)), None)


class _Trial:
    """Random sessions of one layer."""

    def __init__(self, heads: int, kv_heads: int, width: int, dtype: torch.dtype) -> None:
        generator = torch.Generator().manual_seed(0)

        def random(*shape: int) -> torch.Tensor:
            return torch.randn(shape, generator=generator).to(dtype)

        most, cached = max(_SESSIONS), _SHARED + _OWN
        row: Shape = (1, kv_heads, heads // kv_heads, width)
        self._close = _CLOSE[dtype]
        self._scaling = width**-0.5
        self._queries = [random(*row) for _ in range(most)]
        self._keys = [random(1, kv_heads, cached, width) for _ in range(most)]
        self._values = [random(1, kv_heads, cached, width) for _ in range(most)]
        self._heads = heads

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
            own = (x[number][:, :, _SHARED:] for x in (self._keys, self._values))
            owns.append(Own(query, *own))
        shared = (self._keys[0][:, :, :_SHARED], self._values[0][:, :, :_SHARED])
        return attend_shared(*shared, owns, self._scaling, Masks())
