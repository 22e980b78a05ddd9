"""A reply when nobody else is there: ``python -m scripts.bench.solo URL CACHE [TOKEN]``.

Requests: ``reply`` to prompt ids, over a session of its own, on a connection that nothing disturbs.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

from scripts.bench.workers import serve
from split_client.api import SamplingParams, SplitClient
from split_client.chat.reply_maker import ReplyMaker
from split_client.generation.sequence import Sequence
from split_client.transport.base import Traffic
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.remote import RemoteBackend
from split_wire.limits import frame_limit

MAX_TOKENS = 48


def sampling(seed: int | None) -> SamplingParams:
    """Greedy without a seed."""
    if seed is None:
        return SamplingParams()
    return SamplingParams(temperature=1.2, top_p=0.95, repetition_penalty=1.1, seed=seed)


class Solo:
    """Answers the requests with one connection."""

    def __init__(self, url: str, cache: Path, token: str | None) -> None:
        self._client = SplitClient(url, token=token, cache=cache)
        self._ends, manifest = self._client.ends, self._client.manifest
        connect = connector(Endpoint.parse(url), token, frame_limit(manifest.hidden_size, 1))
        self._channel, self._manifest = Channel(connect), manifest
        self._maker = ReplyMaker(self._ends, Traffic(), threading.Event())

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """The ids and the text of the reply to ``ids`` with ``seed`` (None: greedy)."""
        manifest = self._manifest
        backend = RemoteBackend(
            self._channel, manifest.hidden_size, manifest.digest, manifest.max_context
        )
        sequence = Sequence(backend, lambda ids: self._ends.embedder.lookup(ids, backend.dtype))
        params = sampling(request["seed"])
        reply = self._maker.reply(sequence, request["ids"], params, MAX_TOKENS, ())
        reply.read()
        sequence.close()
        return {"ids": reply.token_ids, "text": reply.text}


if __name__ == "__main__":
    given = sys.argv[3] if len(sys.argv) > 3 else None
    serve(Solo(sys.argv[1], Path(sys.argv[2]), given).handle)
