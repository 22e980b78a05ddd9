"""bfloat16 against float32: whole replies, and the likeliest token after the same ids."""

from __future__ import annotations

import torch

from scripts.real.figures import Figure, Figures, of, require
from scripts.real.measures.likelihood import likeliest, likeness
from scripts.real.models.ours import Middle
from scripts.real.models.served import Said
from scripts.real.models.stock import logits, stock
from scripts.real.setting import Setting, counter, forget

_FORCED = 20
# A rounding of 8 bits is far below what another model would give.
_MOST_KL = 0.05


def measure(setting: Setting) -> Figures:
    """Replies through a server in each dtype; then both engines along the float32 replies."""
    wide, narrow = setting.replies("float32"), setting.replies("bfloat16")
    same = sum(a.reply == b.reply for a, b in zip(wide, narrow, strict=True))
    forced = wide[:_FORCED]
    middle, ours = Middle(setting.folder, "bfloat16"), [0, 0]
    tell = counter("bfloat16 along the replies", len(forced))
    for number, one in enumerate(forced, 1):
        found = middle.states(setting.rows(one.prompt + one.reply[:-1]))[len(one.prompt) - 1 :]
        chosen = likeliest(found, setting.table)
        ours[0] += sum(a != b for a, b in zip(chosen, one.reply, strict=True))
        ours[1] += len(chosen)
        tell(number)
    del middle
    forget()
    apart = _kl(setting, forced[:4])
    require(apart < _MOST_KL, f"bfloat16 is {apart:.3f} nats from float32")
    theirs, ties = _stock_flips(setting, forced)
    flips = _flips(wide, narrow)
    return Figures(
        f"KL of the first four replies, bfloat16 from float32, {apart:.1e} nats",
        (
            Figure("replies that are the same", of(same, len(wide)), "[no promise](engine.md)"),
            Figure("first tokens that flip, of all up to there", of(*flips)),
            Figure("flips along the float32 replies, ours", of(*ours)),
            Figure("flips along them, Hugging Face's bfloat16", of(theirs, ours[1])),
            Figure("exact ties of Hugging Face's two largest logits", of(ties, ours[1])),
        ),
    )


def _flips(wide: list[Said], narrow: list[Said]) -> tuple[int, int]:
    """Replies that part, and the tokens up to there: what follows a flip is another text."""
    parted = tokens = 0
    for a, b in zip(wide, narrow, strict=True):
        pairs = zip(a.reply, b.reply, strict=False)
        at = next((n for n, (x, y) in enumerate(pairs, 1) if x != y), None)
        parted += at is not None
        tokens += at or len(a.reply)
    return parted, tokens


def _kl(setting: Setting, said: list[Said]) -> float:
    wide, narrow = Middle(setting.folder, "float32"), Middle(setting.folder, "bfloat16")
    kl = positions = 0.0
    for one in said:
        rows = setting.rows(one.prompt + one.reply)
        found = likeness(wide.states(rows), narrow.states(rows), setting.table)
        kl, positions = kl + found.kl, positions + found.positions
    return kl / positions


def _stock_flips(setting: Setting, said: list[Said]) -> tuple[int, int]:
    model, flips, ties = stock(setting.folder, "bfloat16"), 0, 0
    tell = counter("Hugging Face in bfloat16", len(said))
    for number, one in enumerate(said, 1):
        found = logits(model, one.prompt + one.reply[:-1])[len(one.prompt) - 1 :]
        flips += int((found.argmax(1) != torch.tensor(one.reply)).sum())
        best = torch.topk(found, 2).values
        ties += int((best[:, 0] == best[:, 1]).sum())
        tell(number)
    return flips, ties
