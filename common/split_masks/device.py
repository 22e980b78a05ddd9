"""The device's side of a mask: r hidden in a query ahead of time, h - r sent when h is there.

A mask is used once. Two states under one r would show their difference to the host.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_he.device import decrypt_numbers, encrypt_numbers
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_he.modular import Integers, centre, centred, residues
from split_he.params import N
from split_he.sampling import Entropy, uniform
from split_masks import numbers


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hiding:
    """``query`` goes to the host; ``r`` [H], centred numbers modulo Q, stays here."""

    query: bytes
    r: Integers

    @classmethod
    def draw(cls, keys: DeviceKeys, plan: Packing, entropy: Entropy = os.urandom) -> Hiding:
        """Uniform numbers and their encryption, of which nothing is drawn again."""
        drawn = uniform(entropy, -(-plan.hidden // N)).reshape(-1)[: plan.hidden]
        r = centred(drawn)
        return cls(encrypt_numbers(r, keys, plan, entropy), r)

    def mask(self, number: int, reply: bytes, keys: DeviceKeys, plan: Packing) -> Mask:
        """The mask that the host's ``reply`` makes of it. Raises MalformedCiphertext."""
        return Mask(number, self.r, decrypt_numbers(reply, keys, plan), plan)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mask:
    """``number``: the host's. ``share`` [r]: A r + s with the noise of the reply, modulo Q."""

    number: int
    r: Integers
    share: Integers
    plan: Packing

    def masked(self, state: Integers) -> bytes:
        """h - r modulo Q, of a state [H] from :func:`split_he.device.rounded`."""
        return numbers.pack(residues(centre(state - self.r)))

    def product(self, answer: bytes) -> NDArray[np.float64]:
        """A h [r] from the host's A (h - r) - s. Raises MalformedNumbers."""
        given = centred(numbers.unpack(answer, self.plan.rank))
        return np.asarray(centre(self.share + given) / self.plan.scale, dtype=np.float64)
