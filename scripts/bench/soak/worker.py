"""Clients of a soak in one process, a thread each: ``python -m scripts.bench.soak.worker``.

Requests: ``open`` (make the clients), ``live`` (for a while), ``leave`` (end all of them in order).
Times are of the monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scripts.bench.soak.client import SoakClient
from scripts.bench.soak.hop import ChaosHop
from scripts.bench.soak.tally import together
from scripts.bench.workers import Operations, serve

_STACK_BYTES = 1 << 20


class SoakWorker(Operations):
    """Answers the requests; all hops live on one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._clients: list[SoakClient] = []
        self._hops: list[ChaosHop] = []

    def open(self, url: str, cache: str, clients: int, seed: str) -> dict[str, Any]:
        """Make ``clients`` of them, each behind a hop of its own; nothing connects yet."""
        for number in range(clients):
            hop = ChaosHop(url)
            asyncio.run_coroutine_threadsafe(hop.open(), self._loop).result()
            rng = random.Random(f"{seed}/{number}")
            self._clients.append(SoakClient(hop, self._cutter(hop), Path(cache), rng))
            self._hops.append(hop)
        return {}

    def live(self, seconds: float, pause: float) -> dict[str, Any]:
        """All clients at once; what they counted."""
        until = time.monotonic() + seconds
        with ThreadPoolExecutor(len(self._clients)) as pool:
            list(pool.map(lambda client: client.live(until, pause), self._clients))
        total = together(client.tally for client in self._clients)
        total.done += Counter(
            {
                "cut by the network": sum(hop.cuts for hop in self._hops),
                "half-open by the network": sum(hop.silences for hop in self._hops),
                "upgrade refused on the way": sum(hop.refused_upgrades for hop in self._hops),
            }
        )
        return total.document()

    def leave(self) -> dict[str, Any]:
        """End all clients in order, then their hops."""
        for client in self._clients:
            client.leave()
        for hop in self._hops:
            asyncio.run_coroutine_threadsafe(hop.close(), self._loop).result()
        return {}

    def _cutter(self, hop: ChaosHop) -> Any:
        def cut() -> None:
            self._loop.call_soon_threadsafe(hop.cut)

        return cut


if __name__ == "__main__":
    threading.stack_size(_STACK_BYTES)
    serve(SoakWorker().handle)
