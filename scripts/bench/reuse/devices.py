"""Devices with prompts of token ids: real ends, real sessions, time to the first token."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence as Many
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from scripts.bench.workers import Worker
from split_client.api import SamplingParams, SplitClient
from split_client.chat.reply_maker import ReplyMaker
from split_client.generation.sequence import Sequence
from split_client.transport.channel import Channel, Patience
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.remote import RemoteBackend
from split_wire.limits import frame_limit
from split_wire.messages import DEFAULT_MAX_ROWS
from split_wire.tiers import Cache

# Rounding logits to 8 bits reorders candidates that are closer than this, in deviations of logits.
_TOLERATED_SHORTFALL = 0.1


# Sessions end by intent here, soon after they were opened, which a device would wait for.
_AT_ONCE = Patience(first_delay=0.0)


@dataclass(frozen=True, slots=True)
class Turn:
    """``ids``: the reply. ``ms``: from the beginning, that of the session where it is new, to its
    first token; ``up``: bytes that were sent until the reply was there, ``down``: that came.
    """

    ids: list[int]
    ms: float
    up: int
    down: int
    restored: int


class Device:
    """A device of ``token``'s principal; all its sessions have the same ends."""

    def __init__(self, url: str, folder: Path, token: str = "") -> None:
        self._client = SplitClient(url, token=token, cache=folder)
        self._url, self._token = url, token
        manifest = self._client.manifest
        self.vocabulary, self.width = manifest.vocab_size, manifest.hidden_size
        self.manifest = manifest.digest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, t: TracebackType | None
    ) -> None:
        self._client.close()

    def rows(self, ids: list[int]) -> np.ndarray:
        """Embeddings float32 [n, H]."""
        return self._client.ends.embedder.lookup(ids, "f32")

    def talk(self, cache: Cache = "exact", *, salt: str | None = None, asks: bool = True) -> Talk:
        """A session that opens with its first turn; without ``asks`` it sends every row."""
        connect = connector(Endpoint.parse(self._url), self._token, self._limit())
        manifest, ends = self._client.manifest, self._client.ends
        channel = Channel(connect, patience=_AT_ONCE)
        backend = RemoteBackend(
            channel,
            manifest.hidden_size,
            manifest.digest,
            manifest.max_context,
            cache_salt=salt,
            cache=cache,
        )

        def embed(ids: list[int]) -> np.ndarray:
            return ends.embedder.lookup(ids, backend.dtype)

        named = None if asks else lambda ids, start, stop: embed(ids[start:stop])
        maker = ReplyMaker(ends, channel.traffic, threading.Event())
        return Talk(channel, Sequence(backend, embed, named), maker)

    def once(
        self,
        ids: list[int],
        tokens: int = 1,
        cache: Cache = "exact",
        *,
        salt: str | None = None,
        asks: bool = True,
    ) -> Turn:
        """A turn in a session of its own."""
        began = time.perf_counter()
        with self.talk(cache, salt=salt, asks=asks) as talk:
            return talk.reply(ids, tokens, began)

    def _limit(self) -> int:
        return frame_limit(self._client.manifest.hidden_size, DEFAULT_MAX_ROWS)


class Talk:
    """One session over a connection of its own."""

    def __init__(self, channel: Channel, sequence: Sequence, maker: ReplyMaker) -> None:
        self._channel, self.sequence, self._maker = channel, sequence, maker

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, e: BaseException | None, t: TracebackType | None
    ) -> None:
        self.close()

    def reply(self, ids: list[int], tokens: int = 1, began: float | None = None) -> Turn:
        """Greedy ``tokens`` that follow ``ids``."""
        began = time.perf_counter() if began is None else began
        traffic = self._channel.traffic
        sent, received = traffic.sent, traffic.received
        before = self.sequence.counters.rows_restored
        reply = self._maker.reply(self.sequence, ids, SamplingParams(), tokens, ())
        first = 0.0
        for _ in reply.events():
            first = first or time.perf_counter() - began
        restored = self.sequence.counters.rows_restored - before
        up, down = traffic.sent - sent, traffic.received - received
        return Turn(reply.token_ids, 1e3 * first, up, down, restored)

    def close(self) -> None:
        """End the session and its connection."""
        self.sequence.close()
        self._channel.close()


class Prompts:
    """Seeded prompts of random tokens, none of which begins as another does."""

    def __init__(self, vocabulary: int, seed: int = 11) -> None:
        # The last entries of a vocabulary are its control tokens.
        self._most, self._random = vocabulary - 300, np.random.default_rng(seed)

    def new(self, count: int) -> list[int]:
        """``count`` tokens."""
        return [int(token) for token in self._random.integers(0, self._most, count)]


class Oracle:
    """Hugging Face ``generate`` on the checkpoint that is served, in a process of its own."""

    def __init__(self, path: Path, dtype: str) -> None:
        self._worker = Worker("scripts.bench.peers.generate", str(path), dtype)
        self._exact = dtype == "float32"
        self._asked: dict[str, dict[str, Any]] = {}

    def require(self, prompt: list[int], found: Many[int], what: str) -> None:
        """End the program where ``found`` is not what the model says after ``prompt``: exactly in
        float32, up to the rounding of logits in other dtypes.
        """
        if self._exact:
            right = self._ask(op="generate", ids=prompt, tokens=len(found))["ids"]
            if right != list(found):
                raise SystemExit(f"{what}: tokens {list(found)} in place of {right}")
            return
        short = self._ask(op="check", ids=prompt, new=list(found))["short"]
        if not short <= _TOLERATED_SHORTFALL:
            raise SystemExit(f"{what}: tokens {short:.3f} deviations of logits short")

    def _ask(self, **request: Any) -> dict[str, Any]:
        """The answer; many ways say the same after the same prompt."""
        key = json.dumps(request)
        if key not in self._asked:
            self._asked[key] = self._worker.ask(**request)
        return self._asked[key]

    def close(self) -> None:
        """End its process."""
        self._worker.close()
