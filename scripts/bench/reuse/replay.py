"""Conversations replayed turn by turn on a trained model: replies by the share that was reused.

SmolLM2 behind a real split-server. Each of the user's messages is answered in a session of its own,
once with what earlier turns and conversations left behind and once with ``cache`` ``off``; both
replies are compared with those of ``generate`` in float32. In float32 all three have to be equal.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from scripts.bench.report import finish, median, spread, table
from scripts.bench.reuse.devices import Device, Turn
from scripts.bench.reuse.pages import Page, model_flags, parsed, parser, rounds
from scripts.bench.workers import Worker
from scripts.listening import listening
from scripts.real.model import NAME, real_model
from scripts.real.models.served import template_ids
from scripts.real.texts.conversations import conversations, read, turns

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.01)
_QUICK = {"tokens": 8, "most": 8}
_HEAD = (
    "of the prompt reused",
    "turns",
    "first token with reuse",
    "without",
    "ratio",
    "replies that are generate's, with reuse",
    "without",
    "tokens that are, with reuse",
    "without",
)


@dataclass(frozen=True, slots=True)
class Answered:
    """One turn: ``right`` is the reply of ``generate`` in float32."""

    prompt: int
    reused: Turn
    plain: Turn
    right: list[int]

    @property
    def share(self) -> float:
        """Of the prompt that was not computed again."""
        return self.reused.restored / self.prompt


def main() -> None:
    options = _options()
    path = real_model()
    every = conversations() if options.replay is None else read(options.replay)
    tokenizer: Any = AutoTokenizer.from_pretrained(path)
    prompts = [template_ids(tokenizer, turn) for chat in every for turn in turns(chat)]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        page = Page(f"Conversations replayed, {NAME}", options.dtype)
        flags = (*model_flags(path, options), "--kv-reuse", "exact")
        url, _ = stack.enter_context(listening("serve", *flags))
        device = stack.enter_context(Device(url, folder))
        oracle = Worker("scripts.bench.peers.generate", str(path), "float32")
        stack.callback(oracle.close)
        device.once(prompts[0], cache="off")
        most = min(len(prompts), options.most)
        found = [
            _answered(device, oracle, prompts[number], options.tokens)
            for number in rounds(most, options.seconds)
        ]
    page.add(table(_HEAD, _lines(found)))
    page.add(_words(found, len(every), options))
    page.end(options.out)
    finish(_problems(found) if options.dtype == "float32" else [])


def _answered(device: Device, oracle: Worker, prompt: list[int], tokens: int) -> Answered:
    right = oracle.ask(op="generate", ids=prompt, tokens=tokens)["ids"]
    plain = device.once(prompt, tokens, "off")
    return Answered(len(prompt), device.once(prompt, tokens), plain, right)


def _lines(found: Sequence[Answered]) -> list[list[str]]:
    lines = []
    for low, high in itertools.pairwise(_SHARES):
        part = [one for one in found if low <= one.share < high]
        if part:
            lines.append(_line(f"{low:.0%} to {min(high, 1):.0%}", part))
    return [*lines, _line("all", found)]


def _line(name: str, part: Sequence[Answered]) -> list[str]:
    ratios = [one.plain.ms / one.reused.ms for one in part]
    right = [
        sum(getattr(one, kind).ids == one.right for one in part) for kind in ("reused", "plain")
    ]
    tokens = sum(len(one.right) for one in part)
    alike = [
        sum(_alike(getattr(one, kind).ids, one.right) for one in part)
        for kind in ("reused", "plain")
    ]
    return [
        name,
        str(len(part)),
        spread([one.reused.ms for one in part], "ms", 0),
        spread([one.plain.ms for one in part], "ms", 0),
        f"{median(ratios):.1f} x",
        *(f"{count} of {len(part)}" for count in right),
        *(f"{count} of {tokens}" for count in alike),
    ]


def _alike(found: Sequence[int], right: Sequence[int]) -> int:
    """Tokens up to the first one that differs."""
    same = 0
    for ours, theirs in zip(found, right, strict=False):
        if ours != theirs:
            break
        same += 1
    return same


def _words(found: Sequence[Answered], count: int, options: argparse.Namespace) -> str:
    positions = sum(one.prompt for one in found)
    restored = sum(one.reused.restored for one in found)
    return (
        f"{count} conversations, {len(found)} turns, replies of up to {options.tokens} tokens; "
        f"{restored:,} of {positions:,} positions ({restored / positions:.0%}) were reused. Tokens "
        "count up to the first that differs from generate's in float32."
    )


def _problems(found: Sequence[Answered]) -> list[str]:
    problems = []
    for number, one in enumerate(found):
        if not one.reused.ids == one.plain.ids == one.right:
            problems.append(f"turn {number}: {one.share:.0%} reused, and another reply")
    if not any(one.reused.restored for one in found):
        problems.append("nothing was reused")
    return problems


def _options() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0], seconds=240)
    made.add_argument("--replay", type=Path, metavar="FILE", help="conversations of your own")
    made.add_argument("--tokens", type=int, default=24, help="of a reply")
    made.add_argument("--most", type=int, default=1000, help="turns")
    return parsed(made, _QUICK)


if __name__ == "__main__":
    main()
