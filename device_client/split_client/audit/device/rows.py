"""Rows as a mode sends them, for conversations whose keys follow from the audit's seed."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from split_client.model.ends import DeviceEnds
from split_client.noise.account import Account
from split_client.noise.conversation import NoisedConversation
from split_client.noise.spent import Count, Kind
from split_privacy.mechanism import RowMechanism
from split_wire.tensor import WireDtype

_NOWHERE = Path("no-releases-are-kept")
_NOBODY = "nobody"


class Rows(Protocol):
    """One conversation's way from tokens to rows."""

    def rows(
        self, tokens: list[int], start: int, stop: int, dtype: WireDtype
    ) -> NDArray[np.float32]:
        """Rows [stop - start, H] of a part of ``tokens``, the conversation so far."""


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

    def rows(
        self, tokens: list[int], start: int, stop: int, dtype: WireDtype
    ) -> NDArray[np.float32]:
        """As :meth:`Rows.rows`."""
        return self._ends.embedder.lookup(tokens[start:stop], dtype)


class NoisedRows:
    """Rows as noised mode sends them, by the product's own conversation with noise."""

    def __init__(self, ends: DeviceEnds, release: RowMechanism) -> None:
        self._ends, self._release = ends, release
        self._uncounted = _Uncounted(release)

    def conversation(self, key: bytes) -> Rows:
        """As :meth:`RowSource.conversation`."""
        return _Seeded(
            self._release,
            lambda ids: self._ends.embedder.lookup(ids, "f32"),
            self._ends.manifest.digest,
            self._uncounted,
            _NOWHERE,
            key,
        )


class _Uncounted(Account):
    """Nothing is charged: messages of an audit are no secrets of this user."""

    def __init__(self, release: RowMechanism) -> None:
        self.identity = _NOBODY
        self.kind = Kind.of(release)
        self.budget = None

    def spend(self, count: Count) -> None:
        """As :meth:`Account.spend`."""


class _Seeded(NoisedConversation):
    """Its key comes from the audit's seed and is not kept, nor are its releases."""

    def use_key(self, key: bytes) -> None:
        """As :meth:`NoisedConversation.use_key`, without a file for each of thousands of keys."""
        self._begin(key)


def audit_key(seed: int, *labels: object) -> bytes:
    """A conversation key that the seed decides: only an audit wants noise that can be repeated."""
    text = "|".join(["split audit", str(seed), *map(str, labels)])
    return sha256(text.encode()).digest()
