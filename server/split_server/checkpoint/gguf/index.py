"""The index of a GGUF file: its metadata, and where each tensor lies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from split_server.checkpoint.gguf.blocks import BLOCKS
from split_server.checkpoint.gguf.source import Cursor, Source
from split_server.checkpoint.gguf.values import U32, U64, Metadata, read_metadata, read_text
from split_server.errors import MalformedCheckpoint

_MAGIC, _VERSIONS = b"GGUF", (2, 3)
_MAX_TENSORS, _MAX_NAME_BYTES, _MAX_DIMENSIONS = 16_384, 256, 4
_MAX_ALIGNMENT = 1 << 16
_MAX_VALUES = 1 << 40


@dataclass(frozen=True, slots=True)
class Place:
    """One tensor: its ggml type, its shape, rows first, and its ``size`` bytes at ``offset``."""

    kind: int
    shape: tuple[int, ...]
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Index:
    """What is where in one file."""

    metadata: Metadata
    tensors: Mapping[str, Place]


def read_index(source: Source) -> Index:
    """Every count, length and bound is checked before it is used. Raises MalformedCheckpoint."""
    cursor = Cursor(source)
    if cursor.take(4) != _MAGIC:
        raise MalformedCheckpoint(
            f"{source.name} is not a GGUF file; --model takes one, or the folder around safetensors"
        )
    version = cursor.unpack(U32)
    if version not in _VERSIONS:
        raise MalformedCheckpoint(
            f"{source.name} is of GGUF version {version} or big endian; versions 2 and 3, little "
            "endian, are read"
        )
    tensors, keys = cursor.unpack(U64), cursor.unpack(U64)
    if tensors > _MAX_TENSORS:
        raise MalformedCheckpoint(
            f"{source.name} says that it has {tensors:,} tensors; fetch it again"
        )
    metadata = read_metadata(cursor, source, keys)
    described = _described(cursor, source, tensors)
    alignment = metadata.integer("general.alignment", 32)
    if alignment not in range(8, _MAX_ALIGNMENT + 1, 8):
        raise MalformedCheckpoint(f"{source.name} is aligned to {alignment} bytes")
    start = -(-cursor.offset // alignment) * alignment
    return Index(metadata, _placed(source, described, start, alignment))


def _described(cursor: Cursor, source: Source, count: int) -> dict[str, Place]:
    """The tensors with offsets from the start of the data."""
    found: dict[str, Place] = {}
    for _ in range(count):
        name = read_text(cursor, _MAX_NAME_BYTES)
        if name in found:
            raise MalformedCheckpoint(f"{source.name} has the tensor {name} twice")
        dimensions = cursor.unpack(U32)
        if not 1 <= dimensions <= _MAX_DIMENSIONS:
            raise MalformedCheckpoint(f"{source.name}: {name} has {dimensions} dimensions")
        shape = tuple(cursor.unpack(U64) for _ in range(dimensions))[::-1]
        kind, offset = cursor.unpack(U32), cursor.unpack(U64)
        found[name] = Place(kind, shape, offset, _size(source, name, kind, shape))
    return found


def _size(source: Source, name: str, kind: int, shape: tuple[int, ...]) -> int:
    block = BLOCKS.get(kind)
    if block is None:
        known = ", ".join(block.name for block in BLOCKS.values())
        raise MalformedCheckpoint(
            f"{source.name}: {name} has the type {kind}, which is not read; known are {known}"
        )
    if not all(0 < side < _MAX_VALUES for side in shape) or math.prod(shape) > _MAX_VALUES:
        raise MalformedCheckpoint(f"{source.name}: {name} has an impossible shape")
    if shape[-1] % block.values:
        raise MalformedCheckpoint(f"{source.name}: rows of {name} are no whole {block.name} blocks")
    return math.prod(shape) // block.values * block.bytes


def _placed(
    source: Source, described: Mapping[str, Place], start: int, alignment: int
) -> dict[str, Place]:
    """The tensors with offsets in the file, none of which shares a byte with another."""
    placed = {}
    end = 0
    for name, place in sorted(described.items(), key=lambda item: item[1].offset):
        if place.offset % alignment or place.offset < end:
            raise MalformedCheckpoint(f"{source.name}: {name} overlaps another tensor")
        end = place.offset + place.size
        if start + end > source.size:
            raise MalformedCheckpoint(
                f"{source.name} is cut short: {name} is not all there; fetch it again"
            )
        placed[name] = Place(place.kind, place.shape, start + place.offset, place.size)
    return {name: placed[name] for name in described}
