"""What a session has to remember to leave no trace: names of blocks that its chain does not give.

They are those of branches that edits cut off, and of what its device asked for and did not get.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from split_server.kv.block_key import NAME_BYTES, BlockNames
from split_wire.digest import DIGEST_BYTES

# Of 65,536 positions; of more, the oldest are not remembered.
_MOST_CUT_OFF = 4096


@dataclass(slots=True)
class Traces:
    """``grain``: positions by which its device named what it restored, 1 once a step has named all
    that the session holds; ``wanted``: positions that it asked for last, every ``stride``-th by its
    name. Names are those of the exact tier and lie one after the other: an object for each would
    take twice as many bytes.
    """

    cut_off: bytearray = field(default_factory=bytearray)
    asked: bytes = b""
    grain: int = 1
    wanted: int = 0
    stride: int = 1

    @property
    def size(self) -> int:
        """Bytes of the names."""
        return len(self.cut_off) + len(self.asked)

    def add(self, names: Iterable[bytes]) -> None:
        """Remember the blocks of a branch."""
        self.cut_off += b"".join(names)
        del self.cut_off[: -NAME_BYTES * _MOST_CUT_OFF]

    def asked_for(self, names: Iterable[bytes], known: int, stride: int) -> None:
        """Remember the last question of the device, for ``known`` positions."""
        self.asked, self.grain = b"".join(names), stride
        self.wanted, self.stride = known, stride

    def names(self) -> Iterator[bytes]:
        """All of them."""
        for packed in (self.cut_off, self.asked):
            for at in range(0, len(packed), NAME_BYTES):
                yield bytes(packed[at : at + NAME_BYTES])


def every_name(names: BlockNames, digests: bytes) -> Iterator[bytes]:
    """Of blocks, whole and partial, that end with any of the positions from 1 on, in the exact
    tier.
    """
    exact = names.in_tier("exact")
    for position, at in enumerate(range(0, len(digests), DIGEST_BYTES), 1):
        yield exact.name(position, digests[at : at + DIGEST_BYTES])
