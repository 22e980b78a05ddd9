"""Words for the noise of a row from a key: the same row of the same text gets the same noise.

SHAKE-256 (FIPS 202) over an encoding in which every field is written after its length, so that
no two different inputs have the same bytes. Whoever lacks the key cannot tell its output from
uniform bits, and two inputs that differ in any field give independent noise as far as anybody can
compute. The guarantee of differential privacy is therefore against a server that cannot break
SHAKE-256 with a secret key of 256 bits.
"""

from __future__ import annotations

import hashlib
import math
import struct
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_privacy.discrete import BASE, SPREAD, WIDTH
from split_privacy.errors import InvalidDerivation

KEY_BYTES: Final = 32
HISTORY_BYTES: Final = 32
NO_HISTORY: Final = bytes(HISTORY_BYTES)
_ROW, _MORE, _NAME = b"row", b"more", b"name"


@dataclass(frozen=True, slots=True, repr=False)
class NoiseContext:
    """The context that all rows of a conversation share.

    ``key``: the conversation's, 32 secret bytes. ``layer``: which rows these are. ``sigma`` and
    ``clip``: two values under one key would let their rows be solved for the embedding. ``model``:
    the manifest's digest. ``codec``: how rows are rounded on their way.
    """

    key: bytes
    layer: str
    sigma: float
    clip: float
    model: str
    codec: str

    def __post_init__(self) -> None:
        if len(self.key) != KEY_BYTES:
            raise InvalidDerivation(f"a key has {KEY_BYTES} bytes")
        if not (0.0 < self.sigma < math.inf and 0.0 < self.clip < math.inf):
            raise InvalidDerivation("sigma and clip are finite numbers above 0")

    def encoded(self) -> bytes:
        """All fields and the constants of the noise's shape, each after its length."""
        shape = (struct.pack(">d", WIDTH), struct.pack(">q", BASE), struct.pack(">q", SPREAD))
        numbers = (struct.pack(">d", self.sigma), struct.pack(">d", self.clip))
        texts = (self.layer.encode(), self.model.encode(), self.codec.encode())
        parts = (b"split noise 2", self.key, *shape, *numbers, *texts)
        return b"".join(map(_field, parts))


@dataclass(frozen=True, slots=True)
class RowName:
    """One row: ``token`` at ``position`` after what ``history`` is the digest of."""

    position: int
    token: int
    history: bytes

    def encoded(self) -> bytes:
        """All fields, each after its length."""
        numbers = (struct.pack(">q", self.position), struct.pack(">q", self.token))
        return b"".join(_field(part) for part in (*numbers, self.history))


class RowStreams:
    """The streams of the rows of one context."""

    def __init__(self, context: NoiseContext) -> None:
        self._shared = hashlib.shake_256(context.encoded())

    def words(self, row: RowName, count: int) -> NDArray[np.uint64]:
        """``count`` uniform words for ``row``."""
        return np.frombuffer(self._digest(8 * count, _ROW, row.encoded()), "<u8")

    def more(self, row: RowName, index: int, bits: int) -> int:
        """``bits`` (a multiple of 8) further bits for word ``index`` of ``row``, as a number."""
        digest = self._digest(bits // 8, _MORE, row.encoded(), struct.pack(">q", index))
        return int.from_bytes(digest, "big")

    def name(self, row: RowName) -> bytes:
        """16 bytes that name this release; they tell nothing without the key."""
        return self._digest(16, _NAME, row.encoded())

    def _digest(self, length: int, *parts: bytes) -> bytes:
        stream = self._shared.copy()
        stream.update(b"".join(map(_field, parts)))
        digest: bytes = stream.digest(length)
        return digest


def histories(tokens: list[int], before: bytes = NO_HISTORY) -> list[bytes]:
    """For each of ``tokens`` the digest of all tokens before it; ``before``: the first one's."""
    digests, digest = [], before
    for token in tokens:
        digests.append(digest)
        digest = hashlib.blake2b(
            struct.pack(">q", token), key=digest, digest_size=HISTORY_BYTES
        ).digest()
    return digests


def _field(value: bytes) -> bytes:
    return struct.pack(">q", len(value)) + value
