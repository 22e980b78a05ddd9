"""Adapters of a host as a chat uses them, and what they should do in float64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from split_client.crypto.hosted import HostedAdapters
from split_client.generation.sequence import Sequence
from split_client.transport.channel import Patience
from tests.adapter_hosts import made_adapter

FILE = made_adapter(scale=0.5)
SHORT = Patience(connect=5.0, exchange=20.0, total=0.5)
HIDDEN = np.random.default_rng(7).normal(size=(20, 64)).astype(np.float32)


@dataclass(frozen=True)
class _Model:
    hidden_size: int = 64


def hosted(url: str, token: str | None = None, **options: object) -> HostedAdapters:
    return HostedAdapters(url, token, _Model(), **options)  # type: ignore[arg-type]


def empty_sequence() -> Sequence:
    return Sequence(None, lambda _: HIDDEN)  # type: ignore[arg-type]


def corrected(adapters: HostedAdapters, hidden: np.ndarray) -> np.ndarray:
    sequence = empty_sequence()
    adapters.use("made", sequence)
    assert sequence.correct is not None
    return sequence.correct(hidden)


def reference(hidden: np.ndarray) -> np.ndarray:
    product = FILE.a.astype(np.float64) @ hidden.astype(np.float64)
    return hidden + FILE.scale * (FILE.b.astype(np.float64) @ product)


def opened_sessions(adapters: HostedAdapters) -> int:
    """Sessions so far, once what was begun ahead is done."""
    adapter = adapters._adapters["made"]
    if adapter._next is not None:
        adapter._next.result(20)
    return adapter.sessions_opened
