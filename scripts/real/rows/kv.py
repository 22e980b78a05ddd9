"""Keys and values in fewer bits, in Hugging Face's caches: this project keeps them whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers import DynamicCache

from scripts.real.figures import Figure, Figures, require
from scripts.real.measures.likelihood import NOTHING, Likeness, likeness
from scripts.real.measures.quantisers import eight_bit_floats, per_channel, per_position
from scripts.real.models.served import Said
from scripts.real.models.stock import states, stock
from scripts.real.setting import Setting, say

_CHATS = 20
Rounding = Callable[[torch.Tensor], torch.Tensor]
_KINDS: dict[str, tuple[Rounding, Rounding]] = {
    "int8": (lambda keys: per_channel(keys, 8), lambda values: per_position(values, 8)),
    "int4": (lambda keys: per_channel(keys, 4), lambda values: per_position(values, 4)),
    "fp8 (e4m3, no scales)": (eight_bit_floats, eight_bit_floats),
}


class RoundedCache(DynamicCache):  # type: ignore[misc]
    """Attention sees every key and value as it would be after rounding, its own position's too."""

    def __init__(self, keys: Rounding, values: Rounding) -> None:
        super().__init__()
        self._keys, self._values = keys, values

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *rest: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append to a layer; all that it holds."""
        keys, values = self._keys(key_states), self._values(value_states)
        held: tuple[torch.Tensor, torch.Tensor] = super().update(keys, values, layer_idx, *rest)
        return held


def measure(setting: Setting) -> Figures:
    """Every kind along the same replies, a pass each."""
    said, model = setting.replies("float32")[:_CHATS], stock(setting.folder)
    clean = [_forced(model, one, DynamicCache()) for one in said]
    found = [int((c @ setting.table.T).argmax(1).ne(torch.tensor(one.reply)).sum())
             for c, one in zip(clean, said, strict=True)]  # fmt: skip
    require(sum(found) == 0, "Hugging Face answers otherwise than the replies")
    rows = []
    for kind, (keys, values) in _KINDS.items():
        use = NOTHING
        for one, expected in zip(said, clean, strict=True):
            other = _forced(model, one, RoundedCache(keys, values))
            use += likeness(expected, other, setting.table)
        rows.append(Figure(kind, _words(use)))
        say(f"{kind} measured")
    return Figures(f"without rounding, the replies of {_CHATS} chats come out", tuple(rows))


def _forced(model: Any, one: Said, cache: DynamicCache) -> torch.Tensor:
    return states(model, one.prompt + one.reply[:-1], cache)[len(one.prompt) - 1 :]


def _words(use: Likeness) -> str:
    return f"KL {use.mean_kl:.2g}, same likeliest token {use.share:.1%} of {use.positions:,}"
