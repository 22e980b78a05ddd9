"""One round of the fairness benchmark: a chat alone, a long prefill alone, both at once."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from scripts.bench.workers import Worker

CHAT = "Tell me what the server keeps and what the device sends."
# The chat is ahead of the prefill by so much: its pace is known by then.
_LEAD_SECONDS = 1.0
# More than a chat makes while any prefill is under way; it is ended when the prefill is done.
_ENDLESS = 4000


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of a chat that came within a span of time, in milliseconds each."""

    total: list[float]
    engine: list[float]
    queue: list[float]
    device: list[float]
    wire: list[float]

    @property
    def mean(self) -> float:
        """Milliseconds per token."""
        return fmean(self.total)


@dataclass(frozen=True, slots=True)
class Prefill:
    """A prompt until its first token, in milliseconds; ``device`` is the client's own work."""

    total: float
    engine: float
    queue: float
    device: float
    wire: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Round:
    """``same``: the chat's tokens beside the prefill are those that it made alone;
    ``distinct``: how many different ones they are.
    """

    chat_alone: Tokens
    prefill_alone: Prefill
    chat: Tokens
    prefill: Prefill
    same: bool
    distinct: int

    @property
    def chat_ratio(self) -> float:
        return self.chat.mean / self.chat_alone.mean

    @property
    def prefill_ratio(self) -> float:
        return self.prefill.total / self.prefill_alone.total


def measure(chat: Worker, filler: Worker, tokens: int, *, varied: bool = False) -> Round:
    """The three measurements; the chat alone makes ``tokens`` tokens.

    ``varied``: have the chat repeat no token, which costs its device time.
    """
    alone = chat.ask(op="chat", text=CHAT, tokens=tokens, varied=varied)
    prefill_alone = _prefill(filler.ask(op="prefill"))
    both, answer = _both(chat, filler, varied)
    common = min(len(alone["ids"]), len(both["ids"]))
    return Round(
        _tokens(alone, alone["stamps"][0], alone["stamps"][-1]),
        prefill_alone,
        _tokens(both, answer["begin"], answer["stamps"][0]),
        _prefill(answer),
        alone["ids"][:common] == both["ids"][:common],
        len(set(both["ids"][:common])),
    )


def _both(chat: Worker, filler: Worker, varied: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(chat.ask, op="chat", text=CHAT, tokens=_ENDLESS, varied=varied)
        time.sleep(_LEAD_SECONDS)
        try:
            answer = filler.ask(op="prefill")
        finally:
            os.kill(chat.pid, signal.SIGUSR1)
        return running.result(), answer


def _tokens(answer: dict[str, Any], begin: float, end: float) -> Tokens:
    """The tokens that began and ended between ``begin`` and ``end``."""
    stamps = answer["stamps"]
    within = [i for i in range(1, len(stamps)) if begin <= stamps[i - 1] and stamps[i] <= end]
    if not within:
        raise SystemExit("no token of the chat fell into the prefill; take a longer prompt")
    return Tokens(
        [1e3 * (stamps[i] - stamps[i - 1]) for i in within],
        *([answer[name][i] for i in within] for name in _PARTS),
    )


def _prefill(answer: dict[str, Any]) -> Prefill:
    if answer["sent"] != answer["prompt"]:
        raise SystemExit("a part of the prompt was cached already")
    total = 1e3 * (answer["stamps"][0] - answer["begin"])
    return Prefill(total, *(answer[name][0] for name in _PARTS), answer["prompt"])


_PARTS = ("engine_ms", "queue_ms", "device_ms", "wire_ms")
