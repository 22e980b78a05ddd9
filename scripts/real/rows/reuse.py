"""Prefix reuse in float32: a cache that is cut back and goes on, against a new one."""

from __future__ import annotations

import torch
from transformers import DynamicCache

from scripts.real.figures import Figure, Figures, largest, of, require
from scripts.real.models.ours import Middle
from scripts.real.models.stock import states, stock
from scripts.real.setting import Setting, forget
from split_server.kv.cache import KVCache

_PAIRS, _AFTER = 8, 48
_ALIKE = 1e-2


def measure(setting: Setting) -> Figures:
    """A system prompt and the chat of one pair's first half, then its second half."""
    pairs = _pairs(setting)
    ours, theirs = _ours(setting, pairs), _theirs(setting, pairs)
    for name, (_, _, apart) in (("ours", ours), ("Hugging Face's", theirs)):
        require(apart < _ALIKE, f"{name} logits differ by {apart:.1e} after a cut")
    return Figures(
        f"logits after a cut are those of a new cache to {_ALIKE:g}",
        (
            Figure(
                "likeliest tokens that differ, our caches",
                f"{of(*ours[:2])}, logits within {ours[2]:.1e}",
                "none ([truncation is exact](engine.md#kv-caches))",
            ),
            Figure(
                "the same, Hugging Face's caches",
                f"{of(*theirs[:2])}, logits within {theirs[2]:.1e}",
            ),
        ),
    )


def _pairs(setting: Setting) -> list[tuple[list[int], list[int], list[int]]]:
    """A shared beginning, its first continuation, and another one of 48 ids."""
    said = [one for one in setting.replies("float32") if len(one.reply) >= _AFTER]
    found = []
    for one, other in zip(said[:_PAIRS], said[_PAIRS : 2 * _PAIRS], strict=True):
        found.append((one.prompt, one.reply, other.reply[:_AFTER]))
    return found


def _ours(
    setting: Setting, pairs: list[tuple[list[int], list[int], list[int]]]
) -> tuple[int, int, float]:
    forget()
    middle, found = Middle(setting.folder, "float32"), []
    for shared, first, second in pairs:
        cache = KVCache()
        middle.states(setting.rows(shared + first), cache)
        again = middle.states(setting.rows(second), cache, len(shared))
        found.append((again, middle.states(setting.rows(shared + second))[len(shared) :]))
    return _apart(setting, found)


def _theirs(
    setting: Setting, pairs: list[tuple[list[int], list[int], list[int]]]
) -> tuple[int, int, float]:
    forget()
    model, found = stock(setting.folder), []
    for shared, first, second in pairs:
        cache = DynamicCache()
        states(model, shared + first, cache)
        cache.crop(-len(first))
        again = states(model, second, cache)
        found.append((again, states(model, shared + second)[len(shared) :]))
    return _apart(setting, found)


def _apart(
    setting: Setting, found: list[tuple[torch.Tensor, torch.Tensor]]
) -> tuple[int, int, float]:
    """Likeliest tokens that differ, of how many, and the largest difference of two logits."""
    differ = count = 0
    apart: list[float] = []
    for again, fresh in found:
        a, b = again @ setting.table.T, fresh @ setting.table.T
        differ += int((a.argmax(1) != b.argmax(1)).sum())
        count += len(a)
        apart.append(float((a - b).abs().max()))
    return differ, count, largest(apart)
