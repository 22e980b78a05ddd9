"""Drafts of the product's own sources and lengths, on the model's greedy replies."""

from __future__ import annotations

from typing import Any

from scripts.real.figures import Figure, Figures, of, require
from scripts.real.measures.likelihood import likeliest
from scripts.real.models.counted import Counted, CountedDevice
from scripts.real.models.ours import Middle
from scripts.real.models.served import request
from scripts.real.models.stock import states, stock
from scripts.real.setting import END, Setting, counter
from scripts.real.texts.tasks import tasks
from split_client.chat.drafting import Drafting

_REPLY = 160


def measure(setting: Setting) -> Figures:
    """Tokens of a reply for each round trip, by kind of task."""
    asked = {
        kind: [setting.ids(request(text)) for text in texts] for kind, texts in tasks().items()
    }
    replies = _replies(setting, asked)
    tokens = sum(len(one.ids) for made in replies.values() for one in made)
    differ = _differ(setting, asked, replies)
    require(differ == 0, f"{of(differ, tokens)} tokens are not Hugging Face's")
    checked = f"tokens that are not Hugging Face's likeliest, {of(differ, tokens)}"
    return Figures(checked, tuple(_figure(kind, made) for kind, made in replies.items()))


def _replies(setting: Setting, asked: dict[str, list[list[int]]]) -> dict[str, list[Counted]]:
    middle, drafting = Middle(setting.folder, "float32"), Drafting("auto", "chat")
    device = CountedDevice(middle, setting.table, setting.tokenizer, END, drafting)
    tell, done = counter("replies", sum(map(len, asked.values()))), 0
    made: dict[str, list[Counted]] = {}
    for kind, prompts in asked.items():
        for prompt in prompts:
            made.setdefault(kind, []).append(device.reply(prompt, _REPLY))
            done += 1
            tell(done)
    return made


def _differ(
    setting: Setting, asked: dict[str, list[list[int]]], replies: dict[str, list[Counted]]
) -> int:
    """How many tokens Hugging Face would have chosen otherwise after the same ids."""
    model = stock(setting.folder)
    pairs = [pair for kind in asked for pair in zip(asked[kind], replies[kind], strict=True)]
    return sum(_others(setting, model, prompt, one.ids) for prompt, one in pairs)


def _others(setting: Setting, model: Any, prompt: list[int], reply: list[int]) -> int:
    forced = states(model, prompt + reply[:-1])[len(prompt) - 1 :]
    chosen = likeliest(forced, setting.table)
    return sum(a != b for a, b in zip(chosen, reply, strict=True))


def _figure(kind: str, replies: list[Counted]) -> Figure:
    tokens, steps = sum(len(one.ids) for one in replies), sum(one.steps for one in replies)
    ratios = [len(one.ids) / one.steps for one in replies]
    right = of(sum(one.accepted for one in replies), sum(one.drafted for one in replies))
    return Figure(
        f"{kind}, {len(replies)} tasks, {tokens:,} tokens",
        f"{tokens / steps:.2f} a round trip ({min(ratios):.2f} to {max(ratios):.2f}); "
        f"drafted tokens right: {right}",
    )
