"""The file of a run: a header in the clear, and what it seals.

The header has keyed names and lengths, nothing else: an unkeyed digest would give the text back
token by token to whoever has the model's public table. It is the associated data of the seal.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from split_server.kv.block_key import BLOCK
from split_server.kv.run import MOST_POSITIONS
from split_server.kv_disk.errors import BadFile, ForeignFile
from split_wire.tiers import TIERS, Tier

MAGIC, VERSION = b"GATEKVR\n", 2
# As rows have them in a cache.
DTYPES = ("float32", "bfloat16", "float16")
# Magic, version, count of names, tier, dtype, whether rows are whole numbers, start, end, bytes of
# the seal, id of the key, tag of the owner, what the names have in common, name of the parent's
# block, nonce; little-endian, RFC 5116's nonce.
_FIXED = struct.Struct("<8sHHBB?xIIQ8s16s16s32s12s")
_NAMED = struct.Struct("<I32s")
NONCE_BYTES = 12
SEAL_BYTES = 16
# One for each block, and one for a partial one before and behind.
_MOST_NAMES = MOST_POSITIONS // BLOCK + 2
HEADER_BYTES = _FIXED.size + _MOST_NAMES * _NAMED.size
_NO_PARENT = bytes(32)


@dataclass(frozen=True, slots=True)
class Header:
    """Positions from ``start`` to ``end`` behind the block named ``parent``, empty at the start.

    ``names``: 32 bytes for the block that ends with each position; ``sealed``: bytes behind the
    header; ``key_id``, ``owner``, ``space``: under which key, whose, and of which salt; ``tier`` of
    the rows, ``dtype`` that they have in a cache, and whether they are ``coded`` as whole numbers.
    """

    key_id: bytes
    owner: bytes
    space: bytes
    parent: bytes
    start: int
    end: int
    sealed: int
    nonce: bytes
    names: dict[int, bytes]
    tier: Tier
    dtype: str
    coded: bool

    @property
    def file_name(self) -> str:
        """Of the file, after the name of its last block."""
        return file_name(self.names[self.end])

    def packed(self) -> bytes:
        """Its bytes, which the seal is bound to."""
        fixed = _FIXED.pack(
            MAGIC,
            VERSION,
            len(self.names),
            TIERS.index(self.tier),
            DTYPES.index(self.dtype),
            self.coded,
            self.start,
            self.end,
            self.sealed,
            self.key_id,
            self.owner,
            self.space,
            self.parent or _NO_PARENT,
            self.nonce,
        )
        return fixed + b"".join(_NAMED.pack(*item) for item in self.names.items())


def header_size(names: int) -> int:
    """Bytes of a header with so many names."""
    return _FIXED.size + names * _NAMED.size


def file_name(name: bytes) -> str:
    """Of the file whose last block has ``name``."""
    return f"{name.hex()}.kv"


def is_run_file(name: str) -> bool:
    """Whether a file of that name is a run's."""
    stem, dot, ending = name.partition(".")
    return dot + ending == ".kv" and len(stem) == 64 and not set(stem) - set("0123456789abcdef")


def parse_header(data: bytes, size: int, name: str, key_id: bytes) -> Header:
    """The header at the beginning of ``data``, of a file of ``size`` bytes that is called ``name``.

    Raises BadFile, and ForeignFile for one that does not claim to be under the key ``key_id``.
    """
    if len(data) < _FIXED.size:
        raise BadFile("short")
    magic, version, count, tier, dtype, coded, *rest = _FIXED.unpack_from(data)
    start, end, sealed, *tags = rest
    if magic != MAGIC:
        raise BadFile("damaged")
    if version != VERSION or tags[0] != key_id:
        raise ForeignFile
    if tier >= len(TIERS) or dtype >= len(DTYPES):
        raise BadFile("damaged")
    if not 0 < count <= _MOST_NAMES or not 0 < end - start <= MOST_POSITIONS:
        raise BadFile("damaged")
    if size < header_size(count) + sealed or len(data) < header_size(count):
        raise BadFile("short")
    if size > header_size(count) + sealed or sealed <= SEAL_BYTES:
        raise BadFile("damaged")
    names = dict(_NAMED.iter_unpack(data[_FIXED.size : header_size(count)]))
    _, owner, space, parent, nonce = tags
    if len(names) != count or end not in names or (start == 0) != (parent == _NO_PARENT):
        raise BadFile("damaged")
    parent = b"" if start == 0 else parent
    kind = (TIERS[tier], DTYPES[dtype], coded)
    header = Header(key_id, owner, space, parent, start, end, sealed, nonce, names, *kind)
    if header.file_name != name:
        raise BadFile("swapped")
    return header
