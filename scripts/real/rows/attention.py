"""Attention rows of decode steps against Hugging Face's eager attention; the first position."""

from __future__ import annotations

import torch

from scripts.real.figures import Figure, Figures, largest, require
from scripts.real.models.ours import Middle
from scripts.real.models.stock import stock
from scripts.real.setting import Setting, forget
from split_server.kv.cache import KVCache

_CHATS, _STEPS = 3, 12
_ALIKE = 1e-4


def measure(setting: Setting) -> Figures:
    """All layers and heads of 36 steps."""
    said = [one for one in setting.replies("float32") if len(one.reply) > _STEPS][:_CHATS]
    truth = [_eager(setting, one.prompt + one.reply[: _STEPS - 1]) for one in said]
    forget()
    middle, apart = Middle(setting.folder, "float32"), list[float]()
    firsts: list[float] = []
    for one, expected in zip(said, truth, strict=True):
        cache, ids = KVCache(), one.prompt + one.reply[: _STEPS - 1]
        at = len(one.prompt) - 1
        middle.states(setting.rows(ids[:at]), cache)
        for place in range(at, len(ids)):
            found = middle.watched(cache, setting.rows(ids[place : place + 1]))
            wanted = expected[:, :, place, : place + 1]
            apart.append(float((found - wanted).abs().max()))
            firsts.append(float(found[:, :, 0].mean()))
    require(largest(apart) < _ALIKE, f"rows of attention differ by {largest(apart):.1e}")
    mean = sum(firsts) / len(firsts)
    return Figures(
        f"every row is that of eager attention to {_ALIKE:g}",
        (
            Figure(
                f"largest difference of a weight, {len(firsts)} steps, all layers and heads",
                f"{largest(apart):.1e}",
                "within 1e-5 ([small checkpoints](engine.md#attention-rows) of every family)",
            ),
            Figure(
                "weight on the first position, mean over layers and heads",
                f"{mean:.0%} ({min(firsts):.0%} to {max(firsts):.0%} of a step)",
            ),
        ),
    )


@torch.inference_mode()
def _eager(setting: Setting, ids: list[int]) -> torch.Tensor:
    """[layers, heads, positions, positions]."""
    model = stock(setting.folder, attention="eager")
    out = model.model(torch.tensor([ids]), output_attentions=True, use_cache=False)
    return torch.cat(out.attentions)
