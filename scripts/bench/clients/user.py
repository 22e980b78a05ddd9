"""A user of one client: asks, reads or leaves in the middle, compares, asks again."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from scripts.bench.clients.prompts import Prompt
from scripts.bench.clients.speaker import SILENCE_SECONDS, ReplyFailed, Speaker
from scripts.bench.clients.tally import Tally

_AFTER_FAILURE = 0.5


@dataclass(frozen=True, slots=True)
class Habits:
    """``dropping``: share of replies that are left in the middle; ``pause``: seconds between two
    replies, on average.
    """

    max_tokens: int
    dropping: float
    pause: float


class User:
    """``alone``: for each prompt the pieces of its reply when nobody else was there; every draw
    comes from ``rng``.
    """

    def __init__(
        self,
        speaker: Speaker,
        prompts: Sequence[Prompt],
        alone: Sequence[Sequence[str]],
        habits: Habits,
        rng: random.Random,
    ) -> None:
        self._speaker, self._prompts, self._alone = speaker, prompts, alone
        self._habits, self._rng = habits, rng
        self.tally = Tally()

    async def live(self, until: float) -> None:
        """One reply after another until the monotonic clock says ``until``."""
        while time.monotonic() < until:
            number = self._rng.randrange(len(self._prompts))
            self.tally.asked += 1
            try:
                await self._ask(number)
            except ReplyFailed as failure:
                self.tally.fail(failure)
                await asyncio.sleep(_AFTER_FAILURE)
            await asyncio.sleep(self._rng.expovariate(1 / self._habits.pause))

    async def _ask(self, number: int) -> None:
        expected = self._alone[number]
        last = self._leaves_after(len(expected))
        pieces: list[str] = []
        began = time.monotonic()
        reply = self._speaker.reply(self._prompts[number], self._habits.max_tokens)
        async with aclosing(reply) as heard:
            while (piece := await _next(heard)) is not None:
                began = self._waited(began, first=not pieces)
                pieces.append(piece)
                self.tally.pieces += 1
                if len(pieces) == last:
                    self.tally.broken += 1
                    return
        self._waited(began, first=not pieces)
        self.tally.finished += 1
        if "".join(pieces) != "".join(expected):
            self.tally.different.append(_difference(number, "".join(pieces), "".join(expected)))

    def _leaves_after(self, pieces: int) -> int:
        """After how many pieces the client leaves; 0: it reads to the end."""
        leaves = self._rng.random() < self._habits.dropping
        return self._rng.randint(1, pieces - 1) if leaves and pieces > 1 else 0

    def _waited(self, began: float, *, first: bool) -> float:
        now = time.monotonic()
        self.tally.waited(now - began, first=first)
        return now


async def heard_alone(speaker: Speaker, prompt: Prompt, max_tokens: int) -> list[str]:
    """The pieces of one reply. Raises ReplyFailed."""
    async with aclosing(speaker.reply(prompt, max_tokens)) as heard:
        return [piece async for piece in heard]


async def _next(heard: AsyncGenerator[str, None]) -> str | None:
    """The next piece, None at the end. Raises ReplyFailed, also when nothing comes for long."""
    try:
        async with asyncio.timeout(SILENCE_SECONDS):
            return await anext(heard, None)
    except TimeoutError as error:
        raise ReplyFailed(None, f"silent for {SILENCE_SECONDS:g} s") from error


def _difference(number: int, found: str, expected: str) -> str:
    pairs = enumerate(zip(found, expected, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(found), len(expected)))
    return (
        f"prompt {number} from character {at}: {found[at : at + 40]!r} instead of "
        f"{expected[at : at + 40]!r}"
    )
