"""Names of a session that shares its first positions with a group."""

from __future__ import annotations

from dataclasses import dataclass, replace

from split_server.kv.block_key import BlockNames


@dataclass(frozen=True)
class GroupNames(BlockNames):
    """Blocks that end with one of the first ``until`` positions have the names of ``group``, which
    any member gives them; what follows has the principal's own.

    ``until`` is a multiple of ``BLOCK``: else the block across it would be the principal's own, and
    what is shared would end before it all the same.
    """

    group: BlockNames
    until: int

    @classmethod
    def of(cls, own: BlockNames, group: BlockNames, until: int) -> GroupNames:
        """``own`` names behind ``until``."""
        return cls(own.owner, own._secret, group, until)

    @property
    def shared(self) -> int:
        """Positions whose names others give as well."""
        return self.until

    def part(self, end: int) -> BlockNames:
        """The names of a run that ends with ``end`` and lies on one side of ``until``."""
        if end <= self.until:
            return replace(self.group, tier=self.tier)
        return BlockNames(self.owner, self._secret, tier=self.tier)

    def name(self, position: int, digest: bytes) -> bytes:
        """Of the block that ends with ``position`` positions, whose chained digest is given."""
        return self.part(position).name(position, digest)

    def in_all_tiers(self, exact: bytes) -> list[bytes]:
        """All names of the block that is called ``exact`` in the best tier, whichever side of
        ``until`` it lies on.
        """
        return [*super().in_all_tiers(exact), *self.group.in_all_tiers(exact)[1:]]
