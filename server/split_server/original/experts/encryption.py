"""A h under CKKS with a key of the server's own, which therefore hides nothing from the server.

The same scheme as between a device and an adapter host (:mod:`split_he`); here both sides are one
process. It exists because the original protocol has ``use_he``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_he.device import decrypt, encrypt
from split_he.host import HostAdapter
from split_he.keys import DeviceKeys
from split_he.params import SEED_BYTES

# Blinds to have ready; one that is made in the middle of a product triples its time.
KEPT_BLINDS = 16


@dataclass(frozen=True, slots=True)
class HeTimes:
    """Seconds of work that was done: encrypting, multiplying ciphertexts, decrypting."""

    encrypt: float = 0.0
    compute: float = 0.0
    decrypt: float = 0.0

    def __add__(self, other: HeTimes) -> HeTimes:
        return HeTimes(
            self.encrypt + other.encrypt,
            self.compute + other.compute,
            self.decrypt + other.decrypt,
        )


class LocalEncryption:
    """Keys and encoded matrix of one adapter, for one thread at a time.

    Making one costs tens of milliseconds. Raises HeUnavailable, AdapterOutOfRange,
    UnsupportedShape (``split_he.errors``).
    """

    def __init__(
        self, a: NDArray[np.float32], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """``a``: [r, H]."""
        self._clock = clock
        nonces = os.urandom(SEED_BYTES), os.urandom(SEED_BYTES)
        self._host = HostAdapter.prepare(a)
        self._keys = DeviceKeys.generate(*nonces)
        self._key = self._host.evaluator(self._keys.public, *nonces)

    def multiply(self, rows: NDArray[np.float32]) -> tuple[NDArray[np.float64], HeTimes]:
        """A h [n, r] for each of ``rows`` [n, H]. Raises InputOutOfRange."""
        plan = self._host.packing
        products = np.empty((rows.shape[0], plan.rank))
        times = HeTimes()
        for index, row in enumerate(rows):
            begun = self._clock()
            query = encrypt(row, self._keys, plan)
            encrypted = self._clock()
            reply = self._host.evaluate(query, self._key)
            computed = self._clock()
            products[index] = decrypt(reply, self._keys, plan)
            decrypted = self._clock()
            times += HeTimes(encrypted - begun, computed - encrypted, decrypted - computed)
        return products, times

    def refill(self) -> bool:
        """Make one blind ahead, where some are missing; false when there are enough."""
        if self._key.blinds >= KEPT_BLINDS:
            return False
        self._key.refill(1)
        return True
