"""The host's side of a mask: A r + s under encryption ahead of time, A (h - r) - s when asked."""

from __future__ import annotations

import os
from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_he import wire
from split_he.blinds import HostKey
from split_he.host import HostAdapter
from split_he.layout import Packing
from split_he.modular import Integers, Residues, centre, centred, quotients, residues
from split_he.params import N, Q
from split_he.sampling import Entropy, uniform
from split_he.transform import forward
from split_masks import numbers
from split_masks.errors import MatrixUnfit

# The estimate of a quotient is then off by less than 2^-53 (H + 3) ||row||_1 + 1, below 258: what
# remains is within 259 Q, and 64 bits hold 512.
_MOST_IN_A_ROW: Final = 2.0**61


def evaluate(
    adapter: HostAdapter, query: bytes, key: HostKey, entropy: Entropy = os.urandom
) -> tuple[bytes, Residues]:
    """The reply to an encrypted r, and s [r], which the host keeps for one masked state.

    s is uniform modulo Q and added where the results are; all other coefficients are uniform by the
    blind. So what the device decrypts tells nothing of A. Raises what ``adapter.evaluate`` raises.
    """
    plan = adapter.packing
    total = adapter.blinded(query, key)
    kept = uniform(entropy, 1)[0, : plan.rank].copy()
    total[:, 0] = centre(total[:, 0] + forward(_placed(centred(kept), plan)))
    return wire.pack_reply(residues(total)), kept


class HostMatrix:
    """A in whole steps of its scale, as the ciphertexts are multiplied with it; shared freely."""

    def __init__(self, a: NDArray[np.float32], plan: Packing) -> None:
        """Raises MatrixUnfit."""
        self.plan = plan
        self._a = np.rint(a.astype(np.float64) * plan.weight_scale).astype(np.int64)
        if not np.abs(self._a).sum(axis=1).max() * (plan.hidden + 3.0) < _MOST_IN_A_ROW:
            raise MatrixUnfit
        self._over_q = quotients(self._a)

    def answer(self, masked: bytes, kept: Residues) -> bytes:
        """A (h - r) - s from a masked state and the mask's s. Raises MalformedNumbers.

        Low 64 bits by wrapping multiplication, as :mod:`split_he.modular` has them; the multiple
        of Q to take away by one product of float64, which is at most 512 off.
        """
        values = numbers.unpack(masked, self.plan.hidden)
        multiples = (self._over_q @ values.astype(np.float64)).astype(np.int64)
        multiples *= Q
        low = np.einsum("ph,h->p", self._a, values.view(np.int64))
        low -= multiples
        low -= kept.view(np.int64)
        low %= Q
        return numbers.pack(low.view(np.uint64))


def _placed(values: Integers, plan: Packing) -> Integers:
    """[v, N]: numbers [r] at the coefficients that carry results, zeros elsewhere."""
    placed, taken = np.zeros((plan.groups, N), dtype=np.int64), 0
    for group in range(plan.groups):
        used = plan.used(group)
        placed[group, used] = values[taken : taken + used.size]
        taken += used.size
    return placed
