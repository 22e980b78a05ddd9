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
    return encrypt_numbers(rounded(hidden, plan), keys, plan, entropy)


def encrypt_numbers(
    numbers: Integers, keys: DeviceKeys, plan: Packing, entropy: Entropy = os.urandom
) -> bytes:
    """A query for centred ``numbers`` [H] modulo Q, as :func:`encrypt` makes it of a state's."""
    message = _polynomials(numbers, plan)
    seed = entropy(SEED_BYTES)
    uniform = centred(expand(QUERY_LABEL, seed, plan.chunks))
    message += errors(entropy, plan.chunks)
    halves = centre(forward(message) - keys.times_secret(uniform))
    return wire.pack_query(seed, residues(halves))


def decrypt(reply: bytes, keys: DeviceKeys, plan: Packing) -> NDArray[np.float64]:
    """A h [r] from a reply. Raises MalformedCiphertext."""
    return np.asarray(decrypt_numbers(reply, keys, plan) / plan.scale, dtype=np.float64)


def decrypt_numbers(reply: bytes, keys: DeviceKeys, plan: Packing) -> Integers:
    """The r results of a reply as centred numbers modulo Q, S times A h. Raises
    MalformedCiphertext.
    """
    ciphertexts = centred(wire.parse_reply(reply, plan))
    values = centre(ciphertexts[:, 0] + keys.times_secret(ciphertexts[:, 1]))
    return used_numbers(inverse(values), plan)


def used_numbers(coefficients: Integers, plan: Packing) -> Integers:
    """The r coefficients that carry results, of [v, N]."""
    return np.concatenate([coefficients[group, plan.used(group)] for group in range(plan.groups)])


def rounded(hidden: NDArray[np.float32], plan: Packing) -> Integers:
    """A hidden state [H] in whole steps of the input scale. Raises as :func:`encrypt`."""
    if hidden.shape != (plan.hidden,):
        raise UnsupportedShape(f"a hidden state {hidden.shape} instead of ({plan.hidden},)")
    values = hidden.astype(np.float64)
    norm = float(np.linalg.norm(values))
    if not norm <= plan.norm_bound:
        raise InputOutOfRange(norm, plan.norm_bound)
    return np.rint(values * plan.input_scale).astype(np.int64)


def _polynomials(numbers: Integers, plan: Packing) -> Integers:
    """[u, N]: the chunks of ``numbers`` [H], each where its polynomial begins."""
    flat = np.zeros(plan.chunks * plan.chunk, dtype=np.int64)
    flat[: plan.hidden] = numbers
    padded = np.zeros((plan.chunks, N), dtype=np.int64)
    padded[:, : plan.chunk] = flat.reshape(plan.chunks, plan.chunk)
    return padded
