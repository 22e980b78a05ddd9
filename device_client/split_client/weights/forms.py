"""Forms in which a file travels: its own bytes, or blocks that they are made of here.

A server may have rows of bfloat16 in the blocks of the file that they came from
(:mod:`split_wire.blocks`), at 34 bytes for 64. A chunk that is made of its blocks has the digest
that the manifest names, or is not kept; then the file's own bytes are fetched.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from split_client.weights.manifest import FileEntry, Manifest
from split_wire.blocks import Q8_0_SUFFIX, q8_0_fits, q8_0_size, q8_0_to_bf16


class Form(Protocol):
    """A form of one file, chunk by chunk."""

    @property
    def name(self) -> str:
        """What the server calls it."""
        ...

    def size(self, count: int) -> int:
        """How many bytes travel in place of ``count`` bytes of whole chunks of the file."""
        ...

    def chunk(self, data: bytes) -> bytes:
        """A chunk of the file from what travelled in place of it; not yet verified."""
        ...


@dataclass(frozen=True, slots=True)
class OwnBytes:
    """The file called ``name`` as it is."""

    name: str

    def size(self, count: int) -> int:
        return count

    def chunk(self, data: bytes) -> bytes:
        return data


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of q8_0, in the server's file ``name``."""

    name: str

    def size(self, count: int) -> int:
        return q8_0_size(count)

    def chunk(self, data: bytes) -> bytes:
        return q8_0_to_bf16(data)


def form_of(manifest: Manifest, entry: FileEntry, packed: Collection[str]) -> Form:
    """The smallest form of a file; ``packed``: names of packed forms that the server tells of."""
    name = f"{entry.name}{Q8_0_SUFFIX}"
    ends = (manifest.embedding, manifest.head)
    rows = any(end.file == entry.name and end.dtype == "bf16" for end in ends)
    if name in packed and rows and q8_0_fits(entry.size, entry.chunk_size):
        return Blocks(name)
    return OwnBytes(entry.name)
