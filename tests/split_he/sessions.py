"""A device and a host that have agreed on keys, with random adapters and hidden states."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_he import device
from split_he.blinds import HostKey
from split_he.host import HostAdapter
from split_he.keys import DeviceKeys
from split_he.layout import Packing


@dataclass
class Session:
    """``a``: [r, H] float32; the rest is what each side holds."""

    a: NDArray[np.float32]
    adapter: HostAdapter
    keys: DeviceKeys
    host_key: HostKey
    host_nonce: bytes
    device_nonce: bytes

    @property
    def plan(self) -> Packing:
        return self.adapter.packing

    def ask(self, hidden: NDArray[np.float32]) -> NDArray[np.float64]:
        """A h by way of ciphertexts."""
        query = device.encrypt(hidden, self.keys, self.plan)
        return device.decrypt(self.adapter.evaluate(query, self.host_key), self.keys, self.plan)


def matrix(hidden: int, rank: int, seed: int = 0) -> NDArray[np.float32]:
    """A random [r, H] with the spread of a trained adapter."""
    return np.random.default_rng(seed).normal(0, 0.02, (rank, hidden)).astype(np.float32)


def state(hidden: int, seed: int = 1, rms: float = 2.0) -> NDArray[np.float32]:
    """A random hidden state [H]."""
    return np.random.default_rng(seed).normal(0, rms, hidden).astype(np.float32)


def session(a: NDArray[np.float32]) -> Session:
    """Keys and an adapter for matrix ``a``."""
    host_nonce, device_nonce = os.urandom(32), os.urandom(32)
    adapter = HostAdapter.prepare(a)
    keys = DeviceKeys.generate(host_nonce, device_nonce)
    host_key = adapter.evaluator(keys.public, host_nonce, device_nonce)
    return Session(a, adapter, keys, host_key, host_nonce, device_nonce)
