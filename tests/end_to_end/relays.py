"""The real relay in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from split_relay import Address, Relay, RelayConfig
from tests.patience import PATIENCE

_LOCAL = "127.0.0.1"


@contextmanager
def running_relay(upstream_port: int, **options: Any) -> Iterator[str]:
    """The URL of a relay to ``upstream_port`` on this machine; ``options`` as in RelayConfig."""
    with running_relay_with_counters(upstream_port, **options) as (url, _):
        yield url


@contextmanager
def running_relay_with_counters(
    upstream_port: int, **options: Any
) -> Iterator[tuple[str, Callable[[], int]]]:
    """The same, and what tells the bytes that it has sent to clients."""
    config = RelayConfig(
        listen=Address(_LOCAL, 0), upstream=Address(_LOCAL, upstream_port), **options
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="relay", daemon=True)
    thread.start()

    async def start() -> Relay:
        relay = Relay(config)
        await relay.start()
        return relay

    try:
        relay = asyncio.run_coroutine_threadsafe(start(), loop).result(PATIENCE)
        try:
            url = f"http://{_LOCAL}:{relay.addresses[0].port}"
            yield url, lambda: relay.snapshot().bytes_down
        finally:
            asyncio.run_coroutine_threadsafe(relay.stop(grace=0), loop).result(PATIENCE)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()
