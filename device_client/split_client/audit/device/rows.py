"""Rows as a mode sends them, for conversations whose keys follow from the audit's seed."""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from split_client.ends import DeviceEnds
from split_privacy.mechanism import RowMechanism
from split_privacy.prf import NoiseContext, RowName, RowStreams, histories
from split_wire.tensor import WireDtype


class Rows(Protocol):
    """One conversation's way from tokens to rows."""

    def lookup(self, ids: list[int], start: int, dtype: WireDtype) -> NDArray[np.float32]:
        """Rows [n, H] of ``ids`` at the positions from ``start`` on, as they travel."""


class RowSource(Protocol):
    """Makes conversations; the same key gives the same rows again."""

    def conversation(self, key: bytes) -> Rows:
        """A conversation whose noise, if there is any, is derived from ``key`` (32 bytes)."""


class ClearRows:
    """Rows as split mode sends them, whatever the key."""

    def __init__(self, ends: DeviceEnds) -> None:
        self._ends = ends

    def conversation(self, key: bytes) -> Rows:
        """As :meth:`RowSource.conversation`."""
        del key
        return self

    def lookup(self, ids: list[int], start: int, dtype: WireDtype) -> NDArray[np.float32]:
        """As :meth:`Rows.lookup`."""
        del start
        return self._ends.embedder.lookup(ids, dtype)


class NoisedRows:
    """Rows as noised mode sends them: clipped, and noised from the conversation's key."""

    def __init__(self, ends: DeviceEnds, release: RowMechanism) -> None:
        self._ends, self._release = ends, release

    def conversation(self, key: bytes) -> Rows:
        """As :meth:`RowSource.conversation`."""
        return _NoisedConversation(self._ends, self._release, key)


class _NoisedConversation:
    def __init__(self, ends: DeviceEnds, release: RowMechanism, key: bytes) -> None:
        self._ends, self._release, self._key = ends, release, key
        self._tokens: list[int] = []

    def lookup(self, ids: list[int], start: int, dtype: WireDtype) -> NDArray[np.float32]:
        """As :meth:`Rows.lookup`."""
        self._tokens[start:] = ids
        digests = histories(self._tokens)
        places = range(start, start + len(ids))
        names = [RowName(i, self._tokens[i], digests[i]) for i in places]
        release, digest = self._release, self._ends.manifest.digest
        context = NoiseContext(self._key, "embedding", release.sigma, release.clip, digest, dtype)
        rows = self._ends.embedder.lookup(ids, "f32")
        return release.release(rows, names, RowStreams(context))


def audit_key(seed: int, *labels: object) -> bytes:
    """A conversation key that the seed decides: only an audit wants noise that can be repeated."""
    text = "|".join(["split audit", str(seed), *map(str, labels)])
    return sha256(text.encode()).digest()
