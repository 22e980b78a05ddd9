"""Probes: prefixes of a conversation that a device asks its server for before it sends them.

A device names every ``stride``-th prefix of its rows by the chained digest, and the whole of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from split_wire.digest import DIGEST_BYTES, PrefixChain
from split_wire.errors import MalformedMessage
from split_wire.fields import Fields

CAPABILITY = "restore"
# Positions by which caches are named; every stride is a multiple of it.
BLOCK = 16
MAX_DIGESTS = 2049


@dataclass(frozen=True, slots=True)
class Probe:
    """``digests``: 16 bytes for each multiple of ``stride`` below ``known`` and for ``known``, the
    positions that are asked for at most.
    """

    known: int
    stride: int
    digests: bytes

    @classmethod
    def of(cls, chain: PrefixChain, blocks: int = 1) -> Probe:
        """Asks for all of ``chain``, which is not empty: at every block if the digests allow it, or
        at every so many ``blocks``.
        """
        known = len(chain)
        stride = BLOCK * max(blocks, -(-known // (BLOCK * (MAX_DIGESTS - 1))))
        positions = _positions(known, stride)
        return cls(known, stride, b"".join(chain.at(position) for position in positions))

    def longest_first(self) -> Iterator[tuple[int, bytes]]:
        """Positions and the digests of the prefixes that end there."""
        for index, position in reversed([*enumerate(_positions(self.known, self.stride))]):
            yield position, self.digests[DIGEST_BYTES * index : DIGEST_BYTES * (index + 1)]

    def at(self, position: int) -> bytes | None:
        """The digest of that many positions, None where it was not asked for."""
        if position == self.known:
            return self.digests[-DIGEST_BYTES:]
        if not 0 < position < self.known or position % self.stride:
            return None
        end = DIGEST_BYTES * (position // self.stride)
        return self.digests[end - DIGEST_BYTES : end]


def _positions(known: int, stride: int) -> list[int]:
    return [*range(stride, known, stride), known]


def probe_value(probe: Probe | None) -> Mapping[str, Any]:
    """The fields of a message that carry ``probe``."""
    if probe is None:
        return {}
    return {"known": probe.known, "stride": probe.stride, "digests": probe.digests}


def probe_field(fields: Fields) -> Probe | None:
    """The probe of a message, None without one. Raises MalformedMessage."""
    known = fields.optional_count("known")
    if not known:
        return None
    stride = fields.count("stride")
    if not stride or stride % BLOCK:
        raise MalformedMessage(f"'stride' must be a multiple of {BLOCK}")
    count = -(-known // stride)
    if count > MAX_DIGESTS:
        raise MalformedMessage(f"'stride' is too small: at most {MAX_DIGESTS} digests are read")
    return Probe(known, stride, fields.digest("digests", DIGEST_BYTES * count))
