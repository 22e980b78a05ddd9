"""The adapter host's work per token: multiply encrypted hidden states with its matrix A."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from split_he import scales, wire
from split_he.blinds import HostKey
from split_he.device import QUERY_LABEL
from split_he.errors import AdapterOutOfRange, UnsupportedShape
from split_he.layout import Packing
from split_he.modular import Floats, Integers, centre, centred, dot, quotients, residues
from split_he.params import N, context
from split_he.sampling import Entropy, expand
from split_he.transform import forward


class HostAdapter:
    """Matrix A as plaintext polynomials, ready to be multiplied; never changed, shared freely."""

    def __init__(self, plan: Packing, values: Integers) -> None:
        """``values``: [v, u, N] centred values of the plaintexts at the roots."""
        self.packing = plan
        self._values = values
        self._over_q: Floats = quotients(values)

    @classmethod
    def prepare(
        cls,
        a: NDArray[np.float32],
        norm_bound: float | None = None,
        plan: Packing | None = None,
    ) -> HostAdapter:
        """Matrix A [r, H] with scales chosen for hidden states of norm up to ``norm_bound``.

        The default bound is a root mean square of 64. A given ``plan`` is used as it is, if nothing
        wraps. Raises UnsupportedShape, AdapterOutOfRange, HeUnavailable.
        """
        context()
        if not np.isfinite(a).all():
            raise AdapterOutOfRange("A has values that are not finite")
        plan = scales.choose(a, norm_bound) if plan is None else plan
        values = a.astype(np.float64)
        scales.check(values, plan)
        return cls(plan, forward(plaintexts(values, plan)))

    def evaluator(
        self,
        public: bytes,
        host_nonce: bytes,
        device_nonce: bytes,
        entropy: Entropy = os.urandom,
    ) -> HostKey:
        """The host's side of one session. Raises MalformedKey."""
        return HostKey.parse(public, host_nonce, device_nonce, self.packing, entropy)

    def evaluate(self, query: bytes, key: HostKey) -> bytes:
        """The reply to one query, ``reply_bytes(self.packing)`` bytes.

        Raises as :meth:`blinded`.
        """
        return wire.pack_reply(residues(self.blinded(query, key)))

    def blinded(self, query: bytes, key: HostKey) -> Integers:
        """[v, 2, N]: the ciphertexts of a reply, at the roots.

        Takes one blind of ``key``, once the query is parsed. Raises MalformedCiphertext,
        UnsupportedShape (a key of another packing).
        """
        if key.plan != self.packing:
            raise UnsupportedShape("this key belongs to an adapter of another packing")
        ciphertexts = parse(query, self.packing)
        blind = key.take()
        return centre(self.multiply(ciphertexts) + blind)

    def multiply(self, ciphertexts: Integers) -> Integers:
        """[v, 2, N]: sum over j of ciphertext j, [u, 2, N], times plaintext (j, k). Not blinded."""
        products = np.empty((self.packing.groups, 2, N), dtype=np.int64)
        floats = ciphertexts.astype(np.float64)
        for group, (values, over_q) in enumerate(zip(self._values, self._over_q, strict=True)):
            products[group] = dot(ciphertexts, floats, values, over_q)
        return products


def parse(query: bytes, plan: Packing) -> Integers:
    """The ciphertexts of a query, [u, 2, N] centred. Raises MalformedCiphertext."""
    seed, halves = wire.parse_query(query, plan)
    return centred(np.stack([halves, expand(QUERY_LABEL, seed, plan.chunks)], axis=1))


def plaintexts(a: Floats, plan: Packing) -> Integers:
    """[v, u, N] coefficients: the rows of A reversed, as :mod:`split_he.layout` places them."""
    padded = np.zeros((plan.groups * plan.per_group, plan.chunks * plan.chunk), dtype=np.int64)
    padded[: plan.rank, : plan.hidden] = np.rint(a * plan.weight_scale)
    split = padded.reshape(plan.groups, plan.per_group, plan.chunks, plan.chunk)
    placed = split[..., ::-1].transpose(0, 2, 1, 3).reshape(plan.groups, plan.chunks, -1)
    made = np.zeros((plan.groups, plan.chunks, N), dtype=np.int64)
    made[..., : placed.shape[-1]] = placed
    return made
