"""Single-use blinds: what a reply is added to so that it shows the results and nothing else.

A blind is, for each group, an encryption of zero under the device's public key, (b u + e0, a u +
e1) with fresh ternary u and errors, plus a uniform number in every coefficient that carries no
result. Without the first part the second half of a reply divides by the second half of the query
to A itself; without the second part the decrypted unused coefficients are equations in A.
"""

from __future__ import annotations

import os
from collections import deque
from typing import Final

import numpy as np

from split_he import wire
from split_he.errors import BlindsExhausted
from split_he.keys import uniform_half
from split_he.layout import Packing
from split_he.modular import Integers, Residues, centre, centred, quotients, times
from split_he.params import N
from split_he.sampling import Entropy, errors, ternary, uniform
from split_he.transform import forward

MAX_BLINDS: Final = 64


class HostKey:
    """A device's public key at the host, with a pool of blinds. One thread at a time."""

    def __init__(
        self, halves: tuple[Residues, Residues], plan: Packing, entropy: Entropy = os.urandom
    ) -> None:
        """``halves``: b and a, [N] residues at the roots."""
        self.plan = plan
        self._halves = [(half, quotients(half)) for half in map(centred, halves)]
        self._entropy = entropy
        self._pool: deque[Integers] = deque()

    @classmethod
    def parse(
        cls,
        public: bytes,
        host_nonce: bytes,
        device_nonce: bytes,
        plan: Packing,
        entropy: Entropy = os.urandom,
    ) -> HostKey:
        """A peer's public key; its uniform half is derived here. Raises MalformedKey."""
        half = wire.parse_key(public)
        return cls((half, uniform_half(host_nonce, device_nonce)), plan, entropy)

    @property
    def blinds(self) -> int:
        """The number of blinds that are ready."""
        return len(self._pool)

    def refill(self, count: int) -> None:
        """Make ``count`` more, in idle time. Raises BlindsExhausted beyond 64 kept."""
        if self.blinds + count > MAX_BLINDS:
            raise BlindsExhausted(self.blinds + count, MAX_BLINDS)
        for _ in range(count):
            self._pool.append(self._make())

    def take(self) -> Integers:
        """A blind [v, 2, N], never given out again; made now when none is ready."""
        return self._pool.popleft() if self._pool else self._make()

    def _make(self) -> Integers:
        groups = self.plan.groups
        parts = np.empty((groups, 3, N), dtype=np.int64)
        parts[:, 0] = ternary(self._entropy, groups)
        parts[:, 1] = self._masks()
        parts[:, 2] = errors(self._entropy, groups)
        values = forward(parts)
        blind = np.empty((groups, 2, N), dtype=np.int64)
        for half, (key, key_over_q) in enumerate(self._halves):
            product = times(values[:, 0], key, key_over_q)
            blind[:, half] = centre(product + values[:, 1 + half])
        return blind

    def _masks(self) -> Integers:
        """[v, N]: an error where a coefficient carries a result, uniform where it does not.

        An error added to a uniform number is uniform, so the others need none.
        """
        masks = centred(uniform(self._entropy, self.plan.groups))
        noise = errors(self._entropy, 1)[0]
        for group in range(self.plan.groups):
            used = self.plan.used(group)
            masks[group, used], noise = noise[: used.size], noise[used.size :]
        return masks
