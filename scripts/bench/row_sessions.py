"""Sessions that send rows of random embeddings: what a device costs a server, without its head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache as cached
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from split_client.api import SplitClient
from split_client.generation.sequence import Sequence
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.remote import BUSY_PATIENCE, RemoteBackend
from split_wire.limits import frame_limit
from split_wire.messages import DEFAULT_MAX_ROWS
from split_wire.tiers import Cache

_SCALE = 0.05


@dataclass(frozen=True, slots=True)
class Served:
    """``manifest``: its digest; sizes of the model that a server serves."""

    url: str
    manifest: str
    hidden_size: int
    vocabulary: int
    max_context: int

    @classmethod
    def at(cls, url: str, token: str, cache: Path) -> Served:
        """Ask the server at ``url``."""
        with SplitClient(url, token=token, cache=cache) as client:
            told = client.manifest
            return cls(url, told.digest, told.hidden_size, told.vocab_size, told.max_context)


class RowSession:
    """One session of ``token``'s principal, over a connection of its own.

    ``cache``: whether the server keeps and finds what it computes of it; ``asks``: whether the
    device asks for what it may hold.
    """

    def __init__(
        self,
        served: Served,
        token: str,
        patience: float = BUSY_PATIENCE,
        *,
        cache: Cache = "off",
        asks: bool = True,
    ) -> None:
        limit = frame_limit(served.hidden_size, DEFAULT_MAX_ROWS)
        self._channel = Channel(connector(Endpoint.parse(served.url), token, limit))
        self.backend = RemoteBackend(
            self._channel,
            served.hidden_size,
            served.manifest,
            served.max_context,
            cache=cache,
            busy_patience=patience,
        )
        self._table = _table(served.vocabulary, served.hidden_size)
        rows = self._rows
        named = None if asks else lambda tokens, start, stop: rows(tokens[start:stop])
        self.sequence = Sequence(self.backend, rows, named)

    @property
    def sent(self) -> int:
        """Bytes of frames that went up."""
        return self._channel.traffic.sent

    def _rows(self, tokens: list[int]) -> NDArray[np.float32]:
        return self._table[tokens]

    def step(self, start: int, count: int) -> None:
        """Append ``count`` random rows after ``start`` positions."""
        places = range(start, start + count)
        self.backend.step(start, self._table.take(places, axis=0, mode="wrap"))

    def close(self) -> None:
        """End the session and its connection."""
        self.sequence.close()
        self._channel.close()


@cached
def _table(count: int, width: int) -> NDArray[np.float32]:
    values = np.random.default_rng(7).standard_normal((count, width), np.float32)
    return values * np.float32(_SCALE)
