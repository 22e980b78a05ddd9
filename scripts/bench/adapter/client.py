"""A device client that makes replies with and without an encrypted adapter.

``python -m scripts.bench.adapter.client URL HOST CACHE``; the one request is ``reply``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from scripts.bench.workers import Operations, serve
from split_client.api import SamplingParams, SplitClient


class AdapterWorker(Operations):
    """Answers requests with one connected client."""

    def __init__(self, client: SplitClient) -> None:
        self._client = client
        # A reply of a fixed length: nothing ends it early.
        self._params = SamplingParams(banned=frozenset(client.manifest.eos_token_ids))

    def reply(self, text: str, tokens: int, adapter: str) -> dict[str, Any]:
        """Tokens per second after the first, and this process's CPU milliseconds per token."""
        chat = self._client.conversation()
        chat.adapter, chat.params, chat.max_tokens = adapter, self._params, tokens
        begun = time.process_time()
        reply = chat.send(text)
        reply.read()
        used = time.process_time() - begun
        chat.close()
        return {
            "tokens": len(reply.token_ids),
            "ids": reply.token_ids,
            "per_second": reply.stats.tokens_per_second,
            "first_ms": 1e3 * reply.stats.ttft,
            "cpu_ms": 1e3 * used / len(reply.token_ids),
        }


if __name__ == "__main__":
    _, server, host, cache = sys.argv
    with SplitClient(server, cache=Path(cache), adapter_host=host, drafts="off") as connected:
        serve(AdapterWorker(connected).handle)
