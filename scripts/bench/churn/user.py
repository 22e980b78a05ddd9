"""A user of the churn: opens, chats, edits, undoes, loses the connection, leaves, comes back."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scripts.bench.churn.device import Device, GaveUp
from scripts.bench.churn.tally import Tally

Choose = Callable[[NDArray[np.float32]], int]


@dataclass(frozen=True, slots=True)
class Habits:
    """Counts in tokens, ``pause`` in seconds on average; ``checked``: share of replies verified."""

    vocabulary: int
    max_context: int
    message: tuple[int, int] = (4, 160)
    reply: tuple[int, int] = (4, 32)
    turns: tuple[int, int] = (1, 6)
    pause: float = 2.0
    checked: float = 0.03


class User:
    """``choose`` picks the token after a hidden state; every draw comes from ``rng``."""

    def __init__(
        self, device: Device, choose: Choose, habits: Habits, rng: random.Random, tally: Tally
    ) -> None:
        self._device, self._choose, self._habits = device, choose, habits
        self._rng, self._tally = rng, tally
        self._tokens: list[int] = []
        self._turns: list[int] = []

    async def live(self, until: float) -> None:
        """One session after another until the monotonic clock says ``until``."""
        while time.monotonic() < until:
            try:
                await self._session(until)
            except GaveUp:
                self._tally.done["gave up"] += 1
                await asyncio.sleep(1.0)
        try:
            await self._device.close()
        except GaveUp:
            self._tally.done["gave up"] += 1

    async def _session(self, until: float) -> None:
        self._tokens, self._turns = [], []
        for _ in range(self._rng.randint(*self._habits.turns)):
            await self._turn()
            await asyncio.sleep(self._rng.expovariate(1 / self._habits.pause))
            if time.monotonic() >= until:
                return
            self._change_mind()
        if self._rng.random() < 0.1:
            self._device.leave()
        else:
            await self._device.close()

    def _change_mind(self) -> None:
        """Sometimes the conversation is edited or undone; sometimes the network breaks."""
        whim = self._rng.random()
        if whim < 0.15:
            self._tally.done["edit"] += 1
            self._forget_from(self._rng.randint(0, len(self._tokens)))
        elif whim < 0.3:
            self._tally.done["undo"] += 1
            self._forget_from(self._turns[-1])
        self._device.cut_next = self._rng.random() < 0.2

    def _forget_from(self, length: int) -> None:
        del self._tokens[length:]
        self._turns = [start for start in self._turns if start < length]

    async def _turn(self) -> None:
        """Say something, read the reply."""
        count = round(_log_uniform(self._rng, *self._habits.message))
        replies = self._rng.randint(*self._habits.reply)
        if len(self._tokens) + count + replies > self._habits.max_context:
            self._forget_from(0)
        self._turns.append(len(self._tokens))
        self._tokens += self._rng.choices(range(self._habits.vocabulary), k=count)
        prompt = len(self._tokens)
        for number in range(replies):
            began = time.monotonic()
            answer = await self._device.extend(self._tokens)
            self._tokens.append(self._choose(answer.hidden))
            waits = self._tally.per_token if number else self._tally.ttft
            waits.append(time.monotonic() - began)
            self._tally.queue.append(answer.queue)
        self._tally.done["reply"] += 1
        if self._rng.random() < self._habits.checked:
            self._tally.samples.append((self._tokens[:prompt], self._tokens[prompt:]))


def _log_uniform(rng: random.Random, low: int, high: int) -> float:
    """Many short messages, a few long ones."""
    return float(low * (high / low) ** rng.random())
