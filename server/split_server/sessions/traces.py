"""What a session has to remember to leave no trace: names of blocks that its chain does not give.

They are those of branches that edits cut off, of what its device asked for and did not get, and of
chunks that it published or took in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from split_server.kv.block_key import NAME_BYTES, BlockNames
from split_wire.digest import DIGEST_BYTES

# Of 65,536 positions; of more, the oldest are not remembered.
_MOST_CUT_OFF = 4096
# Chunks; of more, the oldest are not remembered.
_MOST_CHUNKS = 2048


@dataclass(slots=True)
class Traces:
    """``grain``: positions by which its device named what it restored, 1 once a step has named all
    that the session holds; ``wanted``: positions that it asked for last, every ``stride``-th by its
    name. Names are those of the exact tier and lie one after the other: an object for each would
    take twice as many bytes.
    """

    cut_off: bytearray = field(default_factory=bytearray)
    asked: bytes = b""
    chunks: bytearray = field(default_factory=bytearray)
    grain: int = 1
    wanted: int = 0
    stride: int = 1

    @property
    def size(self) -> int:
        """Bytes of the names."""
        return len(self.cut_off) + len(self.asked) + len(self.chunks)

    def add(self, names: Iterable[bytes]) -> None:
        """Remember the blocks of a branch."""
        self.cut_off += b"".join(names)
        del self.cut_off[: -NAME_BYTES * _MOST_CUT_OFF]

    def asked_for(self, names: Iterable[bytes], known: int, stride: int) -> None:
        """Remember the last question of the device, for ``known`` positions."""
        self.asked, self.grain = b"".join(names), stride
        self.wanted, self.stride = known, stride

    def add_chunks(self, names: Iterable[bytes]) -> None:
        """Remember chunks by the names under which they are kept."""
        self.add_last_chunks(names)
        del self.chunks[: -NAME_BYTES * _MOST_CHUNKS]

    def add_last_chunks(self, names: Iterable[bytes]) -> None:
        """:meth:`add_chunks` of a session that ends: those of before stay, however many come."""
        known = {*self.chunk_names()}
        self.chunks += b"".join(name for name in dict.fromkeys(names) if name not in known)

    def chunk_names(self) -> list[bytes]:
        """Those of chunks."""
        packed = bytes(self.chunks)
        return [packed[at : at + NAME_BYTES] for at in range(0, len(packed), NAME_BYTES)]

    def names(self) -> Iterator[bytes]:
        """Those of blocks."""
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
