"""Drafts from prompt and reply, counted on the model's greedy replies; nothing uses them yet."""

from __future__ import annotations

from scripts.real.figures import Figure, Figures, require
from scripts.real.measures.drafts import LONGEST_DRAFT, round_trips
from scripts.real.models.served import request
from scripts.real.setting import Setting
from scripts.real.texts.tasks import tasks

_REPLY = 160


def measure(setting: Setting) -> Figures:
    """Tokens of a reply for each round trip, by kind of task."""
    asked = tasks()
    flat = [request(text) for texts in asked.values() for text in texts]
    said = iter(setting.replied(flat, "float32", _REPLY))
    rows = []
    for kind, texts in asked.items():
        replies = [next(said) for _ in texts]
        alone = sum(round_trips(one.prompt, one.reply, 0) for one in replies)
        tokens = sum(len(one.reply) for one in replies)
        require(alone == tokens, "without drafts a token is not a round trip")
        steps = [round_trips(one.prompt, one.reply, LONGEST_DRAFT) for one in replies]
        ratios = [len(one.reply) / count for one, count in zip(replies, steps, strict=True)]
        rows.append(
            Figure(
                f"{kind}, {len(replies)} tasks, {tokens:,} tokens",
                f"{tokens / sum(steps):.2f} a round trip ({min(ratios):.2f} to {max(ratios):.2f})",
            )
        )
    return Figures("without drafts every token takes one round trip", tuple(rows))
