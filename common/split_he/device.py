"""The device's work per token: encrypt a hidden state, decrypt the product A h."""

from __future__ import annotations

import os
from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_he import wire
from split_he.errors import InputOutOfRange, UnsupportedShape
from split_he.keys import DeviceKeys
from split_he.layout import Packing
from split_he.modular import Integers, centre, centred, residues
from split_he.params import SEED_BYTES, N
from split_he.sampling import Entropy, errors, expand
from split_he.transform import forward, inverse

QUERY_LABEL: Final = b"gatelink ckks query 1"


def encrypt(
    hidden: NDArray[np.float32], keys: DeviceKeys, plan: Packing, entropy: Entropy = os.urandom
) -> bytes:
    """A query for hidden state ``hidden`` [H]: ``query_bytes(plan)`` bytes, different every time.

    Raises InputOutOfRange (not finite, or a norm above ``plan.norm_bound``), UnsupportedShape.
    """
    message = _polynomials(hidden, plan)
    seed = entropy(SEED_BYTES)
    uniform = centred(expand(QUERY_LABEL, seed, plan.chunks))
    message += errors(entropy, plan.chunks)
    halves = centre(forward(message) - keys.times_secret(uniform))
    return wire.pack_query(seed, residues(halves))


def decrypt(reply: bytes, keys: DeviceKeys, plan: Packing) -> NDArray[np.float64]:
    """A h [r] from a reply. Raises MalformedCiphertext."""
    ciphertexts = centred(wire.parse_reply(reply, plan))
    values = centre(ciphertexts[:, 0] + keys.times_secret(ciphertexts[:, 1]))
    return results(inverse(values), plan)


def results(coefficients: Integers, plan: Packing) -> NDArray[np.float64]:
    """The r results in decrypted coefficients [v, N]."""
    used = [coefficients[group, plan.used(group)] for group in range(plan.groups)]
    return np.asarray(np.concatenate(used) / plan.scale, dtype=np.float64)


def _polynomials(hidden: NDArray[np.float32], plan: Packing) -> Integers:
    """[u, N]: the chunks of a hidden state, rounded at the input scale."""
    if hidden.shape != (plan.hidden,):
        raise UnsupportedShape(f"a hidden state {hidden.shape} instead of ({plan.hidden},)")
    values = hidden.astype(np.float64)
    norm = float(np.linalg.norm(values))
    if not norm <= plan.norm_bound:
        raise InputOutOfRange(norm, plan.norm_bound)
    flat = np.zeros(plan.chunks * plan.chunk, dtype=np.int64)
    flat[: plan.hidden] = np.rint(values * plan.input_scale)
    padded = np.zeros((plan.chunks, N), dtype=np.int64)
    padded[:, : plan.chunk] = flat.reshape(plan.chunks, plan.chunk)
    return padded
