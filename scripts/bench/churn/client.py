"""Many users in one process: ``python -m scripts.bench.churn.client``.

Requests: ``open`` (connect and hold the model's ends), ``churn`` (let users live for a while).
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.bench.churn.device import Device
from scripts.bench.churn.link import Link, LinkFailed
from scripts.bench.churn.tally import Tally
from scripts.bench.churn.user import Habits, User
from scripts.bench.workers import Operations, serve
from split_client.api import SplitClient
from split_wire.client import ClientProtocol
from split_wire.codec import encode_message
from split_wire.messages import Close


class ChurnClient(Operations):
    """Answers the requests; the ends are opened once and shared by all users."""

    def __init__(self) -> None:
        self._url = ""
        self._client: SplitClient | None = None

    def open(self, url: str, cache: str) -> dict[str, Any]:
        """Pull or find the ends of the served model."""
        self._url = url
        self._client = SplitClient(url, cache=Path(cache))
        self._client.connect()
        return {"model": self._client.manifest.name}

    def churn(
        self, users: int, seconds: float, ramp: float, seed: str, habits: dict[str, Any]
    ) -> dict[str, Any]:
        """Let ``users`` come one after the other within ``ramp`` seconds, live, and go."""
        assert self._client is not None
        manifest = self._client.manifest
        lives = Habits(vocabulary=manifest.vocab_size, max_context=manifest.max_context, **habits)
        tally, orphans = Tally(), list[str]()
        asyncio.run(self._churn(users, seconds, ramp, seed, lives, tally, orphans))
        return tally.document()

    async def _churn(
        self,
        users: int,
        seconds: float,
        ramp: float,
        seed: str,
        habits: Habits,
        tally: Tally,
        orphans: list[str],
    ) -> None:
        until = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            for number in range(users):
                rng = random.Random(f"{seed}/{number}")
                late = ramp * number / users
                group.create_task(self._live(late, until, habits, rng, tally, orphans))
        await self._close_orphans(orphans, tally)

    async def _live(
        self,
        late: float,
        until: float,
        habits: Habits,
        rng: random.Random,
        tally: Tally,
        orphans: list[str],
    ) -> None:
        await asyncio.sleep(late)
        assert self._client is not None
        ends, manifest = self._client.ends, self._client.manifest
        link = Link(self._url)
        protocol = ClientProtocol(manifest.hidden_size, manifest.digest)

        def lookup(ids: list[int]) -> NDArray[np.float32]:
            assert protocol.opened is not None
            return ends.embedder.lookup(ids, protocol.opened.dtype)

        def choose(hidden: NDArray[np.float32]) -> int:
            return int(ends.head.top(hidden, 1).ids[0])

        device = Device(link, protocol, lookup, tally, orphans)
        try:
            await User(device, choose, habits, rng, tally).live(until)
        finally:
            await link.close()

    async def _close_orphans(self, orphans: list[str], tally: Tally) -> None:
        """Sessions that were left behind; those that the server dropped meanwhile are no error."""
        link = Link(self._url)
        with contextlib.suppress(LinkFailed):
            for session in orphans:
                await link.exchange(encode_message(Close(session)))
                tally.done["close left"] += 1
            await link.close()


if __name__ == "__main__":
    serve(ChurnClient().handle)
