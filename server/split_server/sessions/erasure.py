"""Which other sessions hold a text that is being forgotten, so that they do not keep it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from split_server.kv.block_key import BLOCK, BlockNames
from split_server.sessions.traces import Traces
from split_wire.digest import DIGEST_BYTES

# The digest of so many positions, as a session has them.
DigestAt = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Erasure:
    """``digests``: of the rows that the erased session held, 16 bytes each; ``names``: of what its
    device asked for and of branches that it gave up; ``wanted``: positions that were asked for, of
    which every ``stride``-th was named.
    """

    space: BlockNames
    digests: bytes
    names: frozenset[bytes]
    wanted: int
    stride: int

    @classmethod
    def of(cls, names: BlockNames, digests: bytes, traces: Traces) -> Erasure:
        """What is forgotten with a session that holds ``digests`` and has left ``traces``."""
        return cls(names, digests, frozenset(traces.names()), traces.wanted, traces.stride)

    @property
    def end(self) -> int:
        """Positions of the text."""
        return max(self.wanted, len(self.digests) // DIGEST_BYTES)

    def concerns(self, count: int, at: DigestAt) -> bool:
        """Whether the first ``count`` positions of a session hold the text to its end, or are a
        part of it. What only begins alike is another text.
        """
        if not count:
            return False
        held = min(count, len(self.digests) // DIGEST_BYTES)
        # Behind what was restored comes what was asked for.
        whole = held == count or self.wanted <= held
        if held and whole and self._digest(held) == at(held):
            return True
        ends = {count - count % BLOCK, count - count % self.stride}
        if count >= self.wanted:
            ends = {self.wanted}
        return any(self._named(end, at) for end in ends if end)

    def _digest(self, position: int) -> bytes:
        return self.digests[DIGEST_BYTES * (position - 1) : DIGEST_BYTES * position]

    def _named(self, position: int, at: DigestAt) -> bool:
        return self.space.name(position, at(position)) in self.names
