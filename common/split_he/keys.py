"""The device's keys: a ternary secret from SEAL, and a public key whose uniform half is agreed.

The public key is (b, a) with b = e - a s. Its uniform half a comes from SHAKE-256 over a nonce of
the host and a nonce of the device, so neither side chooses it: with a = 0 a device could read a
host's matrix from a single reply. Only b travels.
"""

from __future__ import annotations

import os
from typing import Final

import numpy as np

from split_he import wire
from split_he.errors import MalformedKey
from split_he.modular import Floats, Integers, Residues, centre, centred, quotients, residues, times
from split_he.params import SEED_BYTES, N, context, require_tenseal
from split_he.sampling import Entropy, errors, expand
from split_he.transform import forward

_LABEL: Final = b"gatelink ckks public key 1"


class DeviceKeys:
    """One secret key and its public key, for one thread at a time. The secret stays in here."""

    def __init__(self, secret: Integers, public: bytes) -> None:
        """``secret``: [N] centred values at the roots; ``public``: the bytes that travel."""
        self._secret = secret
        self._secret_over_q: Floats = quotients(secret)
        self.public = public

    @classmethod
    def generate(
        cls, host_nonce: bytes, device_nonce: bytes, entropy: Entropy = os.urandom
    ) -> DeviceKeys:
        """New keys for one session; both nonces have 32 bytes.

        Raises HeUnavailable (no tenseal, or its context refuses the parameters), MalformedKey.
        """
        half = uniform_half(host_nonce, device_nonce)
        return cls._of(_seal_secret(), half, entropy)

    @classmethod
    def of_secret(
        cls,
        secret: Integers,
        host_nonce: bytes,
        device_nonce: bytes,
        entropy: Entropy = os.urandom,
    ) -> DeviceKeys:
        """The keys of a secret that was drawn already, [N] centred values at the roots.

        Raises MalformedKey.
        """
        return cls._of(secret, uniform_half(host_nonce, device_nonce), entropy)

    @classmethod
    def _of(cls, secret: Integers, uniform: Residues, entropy: Entropy) -> DeviceKeys:
        masked = times(centred(uniform), secret, quotients(secret))
        half = residues(centre(forward(errors(entropy, 1)[0]) - masked))
        return cls(secret, wire.pack_key(half))

    def times_secret(self, values: Integers) -> Integers:
        """values * s, [..., N] centred values at the roots."""
        return times(values, self._secret, self._secret_over_q)

    def __repr__(self) -> str:
        return "DeviceKeys(...)"

    def __reduce__(self) -> str:
        raise TypeError("device keys are not serialised")


def uniform_half(host_nonce: bytes, device_nonce: bytes) -> Residues:
    """[N]: the uniform half of the public key that both nonces agree on. Raises MalformedKey."""
    for nonce in (host_nonce, device_nonce):
        if len(nonce) != SEED_BYTES:
            raise MalformedKey(f"a nonce has {len(nonce)} bytes instead of {SEED_BYTES}")
    return np.asarray(expand(_LABEL, host_nonce + device_nonce, 1)[0], dtype=np.uint64)


def _seal_secret() -> Integers:
    """A ternary secret of SEAL's key generator, [N] centred values at the roots."""
    generator = require_tenseal().KeyGenerator(context())
    key = generator.secret_key()
    plain = key.data()  # a view into ``key``, which must outlive it
    values = np.fromiter(map(plain.data, range(N)), dtype=np.uint64, count=N)
    del plain
    return centred(values)
