"""Bytes of public keys, queries and replies: exact lengths, every residue checked to be below Q.

Each begins with eight bytes: magic ``GLHE``, version, kind, and the number of polynomials (u16,
little endian). A public key and a reply continue with polynomials of 13,824 bytes
(:mod:`split_he.bits`), a query with its 32-byte seed first. No length, shape or flag in a peer's
bytes steers anything: they must equal what the packing prescribes.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

from split_he.bits import POLYNOMIAL_BYTES, pack, unpack
from split_he.errors import MalformedCiphertext, MalformedKey
from split_he.layout import Packing
from split_he.modular import Residues
from split_he.params import SEED_BYTES, N, Q

_MAGIC: Final = b"GLHE"
_VERSION: Final = 1
_KEY, _QUERY, _REPLY = 1, 2, 3
HEADER_BYTES: Final = 8
KEY_BYTES: Final = HEADER_BYTES + POLYNOMIAL_BYTES


def query_bytes(plan: Packing) -> int:
    """The exact length of a query."""
    return HEADER_BYTES + SEED_BYTES + plan.chunks * POLYNOMIAL_BYTES


def reply_bytes(plan: Packing) -> int:
    """The exact length of a reply."""
    return HEADER_BYTES + 2 * plan.groups * POLYNOMIAL_BYTES


def pack_key(half: Residues) -> bytes:
    """The half of a public key that is not uniform, [N]."""
    return _header(_KEY, 1) + pack(half)


def parse_key(data: bytes) -> Residues:
    """The half that :func:`pack_key` got. Raises MalformedKey."""
    return _polynomials(data, _KEY, 1, 0, MalformedKey).reshape(N)


def pack_query(seed: bytes, halves: Residues) -> bytes:
    """A seed and the halves [u, N] that are not uniform."""
    return _header(_QUERY, len(halves)) + seed + pack(halves)


def parse_query(data: bytes, plan: Packing) -> tuple[bytes, Residues]:
    """The seed and the halves that :func:`pack_query` got. Raises MalformedCiphertext."""
    halves = _polynomials(data, _QUERY, plan.chunks, SEED_BYTES, MalformedCiphertext)
    return bytes(data[HEADER_BYTES : HEADER_BYTES + SEED_BYTES]), halves


def pack_reply(ciphertexts: Residues) -> bytes:
    """Ciphertexts [v, 2, N]."""
    return _header(_REPLY, 2 * len(ciphertexts)) + pack(ciphertexts)


def parse_reply(data: bytes, plan: Packing) -> Residues:
    """The ciphertexts that :func:`pack_reply` got. Raises MalformedCiphertext."""
    flat = _polynomials(data, _REPLY, 2 * plan.groups, 0, MalformedCiphertext)
    return np.asarray(flat.reshape(plan.groups, 2, N), dtype=np.uint64)


def _header(kind: int, polynomials: int) -> bytes:
    return struct.pack("<4sBBH", _MAGIC, _VERSION, kind, polynomials)


def _polynomials(
    data: bytes,
    kind: int,
    count: int,
    skip: int,
    error: type[MalformedCiphertext | MalformedKey],
) -> Residues:
    expected = HEADER_BYTES + skip + count * POLYNOMIAL_BYTES
    if len(data) != expected:
        raise error(f"{len(data)} bytes instead of {expected}")
    if bytes(data[:HEADER_BYTES]) != _header(kind, count):
        raise error("another magic, version, kind or number of polynomials")
    values = unpack(memoryview(data)[HEADER_BYTES + skip :])
    if (values >= Q).any():
        raise error("a residue is not below the modulus")
    return np.asarray(values.reshape(count, N), dtype=np.uint64)
