"""A device of the churn: makes one session hold given tokens, whatever happens to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scripts.bench.churn.link import Link, LinkFailed
from scripts.bench.churn.tally import Tally
from split_wire.client import ClientProtocol, Event, SessionOpened, StepCompleted, StepFailed
from split_wire.errors import SplitError

# The server holds another cache than the device believes, or none: a new session repairs it.
_LOST = frozenset({"unknown_session", "prefix_mismatch", "start_beyond_cache", "step_conflict"})
_RETRY_SECONDS = 60.0
_ROWS = 512

Lookup = Callable[[list[int]], NDArray[np.float32]]


class GaveUp(Exception):
    """A step failed for good; its cause is in the tally."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``hidden`` float32 [H] of the last row; ``queue`` in seconds."""

    hidden: NDArray[np.float32]
    queue: float


class Device:
    """``lookup`` maps n ids to float32 rows [n, H]; ``orphans`` collects sessions left behind."""

    def __init__(
        self,
        link: Link,
        protocol: ClientProtocol,
        lookup: Lookup,
        tally: Tally,
        orphans: list[str],
    ) -> None:
        self._link, self._protocol, self._lookup = link, protocol, lookup
        self._tally, self._orphans = tally, orphans
        self._cached: list[int] = []
        self.cut_next = False

    async def extend(self, tokens: list[int]) -> Answer:
        """Have the session hold ``tokens``, sending what differs. Raises GaveUp."""
        deadline = time.monotonic() + _RETRY_SECONDS
        while time.monotonic() < deadline:
            try:
                return await self._send_rest(tokens)
            except _Again as again:
                await asyncio.sleep(again.delay)
        self._tally.unexplained("a step was not served within a minute")
        raise GaveUp

    async def close(self) -> None:
        """End the session in order."""
        frame = self._protocol.close()
        self._cached = []
        if frame is not None:
            await self._receive(frame)
            self._tally.done["close"] += 1

    def leave(self) -> None:
        """Go without a word: the session stays with the server."""
        if self._protocol.opened is not None:
            self._orphans.append(self._protocol.opened.session)
            self._tally.done["leave"] += 1
        self._protocol.forget()
        self._cached = []
        self._link.cut()

    async def _send_rest(self, tokens: list[int]) -> Answer:
        if self._protocol.opened is None:
            await self._open()
        start = min(_common_prefix(self._cached, tokens), len(tokens) - 1)
        if start < len(self._cached):
            self._tally.done["truncate"] += 1
        queue = 0.0
        while True:
            chunk = tokens[start : start + _ROWS]
            event = await self._step(start, chunk)
            start += len(chunk)
            queue += event.queue_us / 1e6
            if start == len(tokens):
                return Answer(event.hidden[-1], queue)

    async def _open(self) -> None:
        event = await self._receive(self._protocol.open())
        if not isinstance(event, SessionOpened):
            raise self._judged(event)
        self._tally.done["open"] += 1

    async def _step(self, start: int, chunk: list[int]) -> StepCompleted:
        event = await self._receive(self._protocol.step(start, self._lookup(chunk)))
        if not isinstance(event, StepCompleted):
            raise self._judged(event)
        del self._cached[start:]
        self._cached += chunk
        self._tally.done["step"] += 1
        return event

    async def _receive(self, frame: bytes) -> Event:
        """Exchange ``frame``; the same bytes again after a connection that was cut."""
        try:
            if self.cut_next:
                self.cut_next = False
                self._tally.done["cut"] += 1
                await self._link.send_and_cut(frame)
            return self._protocol.receive(await self._link.exchange(frame))
        except (LinkFailed, SplitError) as error:
            self._tally.unexplained(f"{type(error).__name__}: {error}")
            self._protocol.forget()
            self._cached = []
            raise GaveUp from error

    def _judged(self, event: Event) -> Exception:
        """The outcome of a refusal: again at once with a new session, again later, or the end."""
        if not isinstance(event, StepFailed):
            self._tally.unexplained(f"an answer of another kind: {type(event).__name__}")
            return GaveUp()
        error = event.failure.error()
        self._tally.failed(error.code)
        if error.code in _LOST:
            self._protocol.forget()
            self._cached = []
            return _Again(0.0)
        if error.retryable:
            return _Again(max(0.05, error.retry_after or 0.0))
        return GaveUp()


def _common_prefix(left: list[int], right: list[int]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))


class _Again(Exception):
    def __init__(self, delay: float) -> None:
        self.delay = delay
