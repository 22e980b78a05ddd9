"""Names of cached positions: what opens a kept block, and to whom.

The chained digest of the rows (``split_wire.digest``) says what a prefix holds, without a secret;
it travels in every message. A block is kept under a keyed hash of that digest, so that a digest
alone opens nothing: the key belongs to one principal, one salt of the device's, one way of
computing keys and values, and one tier of what is kept of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Protocol

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from split_wire.tiers import TIERS, Tier

# Positions by which blocks are named; a partial block is named by its own end.
BLOCK = 16
# Whose runs everybody finds; neither a token nor a device has this name.
PUBLIC = "*"
# Under what the secret of all groups is kept; nobody has this name either.
GROUPS = "+groups"
_SECRET_BYTES = 32
NAME_BYTES = 32
_SPACE_BYTES = 16


@dataclass(frozen=True, slots=True)
class BlockNames:
    """The names that one principal's sessions of one salt give; ``owner`` is that principal.

    A block has another name in each tier, which only the same secret leads to.
    """

    owner: str
    _secret: bytes
    tier: Tier = field(default="exact", kw_only=True)

    def name(self, position: int, digest: bytes) -> bytes:
        """Of the block that ends with ``position`` positions, whose chained digest is given."""
        link = position.to_bytes(8, "little") + digest
        exact = blake2b(link, key=self._secret, digest_size=NAME_BYTES).digest()
        return self._in_tier(self.tier, exact)

    def chunk(self, name: bytes) -> bytes:
        """Of the chunk whose rows give it ``name``, wherever it lies; in the approximate tier."""
        key = blake2b(b"kv chunk 1", key=self._secret, digest_size=NAME_BYTES)
        return blake2b(name, key=key.digest(), digest_size=NAME_BYTES).digest()

    def in_tier(self, tier: Tier) -> BlockNames:
        """The names of the same blocks in ``tier``."""
        return self if tier == self.tier else replace(self, tier=tier)

    def in_all_tiers(self, exact: bytes) -> list[bytes]:
        """All names of the block that is called ``exact`` in the best tier."""
        return [self._in_tier(tier, exact) for tier in TIERS]

    def _in_tier(self, tier: Tier, exact: bytes) -> bytes:
        if tier == "exact":
            return exact
        key = blake2b(f"kv tier {tier} 1".encode(), key=self._secret, digest_size=NAME_BYTES)
        return blake2b(exact, key=key.digest(), digest_size=NAME_BYTES).digest()

    @property
    def shared(self) -> int:
        """Positions whose names others give as well."""
        return 0

    def part(self, end: int) -> BlockNames:  # noqa: ARG002
        """The names of a run that ends with ``end`` and lies on one side of ``shared``."""
        return self

    @property
    def space(self) -> bytes:
        """16 bytes that all blocks of this principal and salt have in common, in every tier, and no
        other ones.
        """
        return blake2b(b"space", key=self._secret, digest_size=_SPACE_BYTES).digest()


class Salts(Protocol):
    """Random secrets of principals, 32 bytes each."""

    def of(self, principal: str) -> bytes:
        """The secret of ``principal``, drawn where there is none."""

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Have principals that are ``gone`` draw a new one if they come back."""


class MemorySalts:
    """Salts that end with the process."""

    def __init__(self) -> None:
        self._salts: dict[str, bytes] = {}

    def of(self, principal: str) -> bytes:
        """The secret of ``principal``, drawn where there is none."""
        return self._salts.setdefault(principal, secrets.token_bytes(_SECRET_BYTES))

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Have principals that are ``gone`` draw a new one if they come back."""
        for principal in [principal for principal in self._salts if gone(principal)]:
            del self._salts[principal]


class Namespaces:
    """``identity``: everything that decides what keys and values a row gives; ``salts``: where the
    secrets of principals are kept, in memory unless it is given. Lives on the event loop.
    """

    def __init__(self, identity: str, salts: Salts | None = None) -> None:
        self._identity = identity.encode()
        self._salts = MemorySalts() if salts is None else salts

    def of(self, principal: str, salt: str = "") -> BlockNames:
        """The names of ``principal``; with a ``salt``, other ones than with any other."""
        return BlockNames(principal, self._derived(principal, b"kv block names 1", salt))

    def of_group(self, principal: str, name: str, members: Iterable[str]) -> BlockNames:
        """The names that all ``members`` of the group ``name`` give, for what ``principal``
        publishes. Of other members, they are other ones: nobody finds what a group shared before
        it was one of it, or before the name was another group's.
        """
        secret = self._derived(GROUPS, b"kv group names 1", name, *sorted(members))
        return BlockNames(principal, secret)

    def _derived(self, owner: str, use: bytes, *texts: str) -> bytes:
        own = self._salts.of(owner)
        # HKDF (RFC 5869); the parts of what it is told are told apart by their lengths.
        parts = (self._identity, *(text.encode() for text in texts))
        told = b"".join(len(part).to_bytes(4, "little") + part for part in parts)
        return HKDF(SHA256(), _SECRET_BYTES, salt=own, info=use + told).derive(own)

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Nothing that was named for principals that are ``gone`` is found again."""
        self._salts.forget(gone)
