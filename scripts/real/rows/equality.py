"""Greedy equality: chats through client and server in float32, Hugging Face forced along."""

from __future__ import annotations

from scripts.real.figures import Figure, Figures, of, require
from scripts.real.measures.likelihood import likeliest, margins
from scripts.real.models.stock import states, stock
from scripts.real.setting import Setting, counter


def measure(setting: Setting) -> Figures:
    """Every token of every reply against the likeliest of Hugging Face after the same ids."""
    said = setting.replies("float32")
    model, tell = stock(setting.folder), counter("Hugging Face along the replies", len(said))
    differ, smallest = 0, float("inf")
    for number, one in enumerate(said, 1):
        forced = states(model, one.prompt + one.reply[:-1])[len(one.prompt) - 1 :]
        chosen = likeliest(forced, setting.table)
        differ += sum(a != b for a, b in zip(chosen, one.reply, strict=True))
        smallest = min(smallest, *margins(forced, setting.table))
        tell(number)
    total = sum(len(one.reply) for one in said)
    require(total > 0, "no reply has a token")
    ended = sum(one.ended for one in said)
    return Figures(
        "the prompts of client and transformers have the same number of tokens",
        (
            Figure(
                f"tokens that differ, {len(said)} chats of up to 64 tokens",
                of(differ, total),
                "none ([engine](engine.md#a-pass), small checkpoints of every family)",
            ),
            Figure("smallest margin of the two largest logits", f"{smallest:.4f}"),
            Figure("replies that the model ended itself", of(ended, len(said))),
        ),
    )
