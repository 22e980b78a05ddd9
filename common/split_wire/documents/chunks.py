"""Chunks of a text: where they lie, and the names that their rows give them.

A device, which has the text, says where a chunk begins and ends: a message, a paragraph, a file.
Its name is made of its rows alone, so that the same chunk has the same name behind any text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

from split_wire.digest import DIGEST_BYTES, linked
from split_wire.errors import MalformedMessage
from split_wire.fields import MAX_STEP
from split_wire.tensor import Tensor

CAPABILITY = "chunks"
# Rows of a chunk: fewer are computed sooner than found, and more are seldom the same.
SHORTEST, LONGEST = 64, 1024
MOST_CHUNKS = 1024
# What a chunk's first row is linked to.
SEED = blake2b(digest_size=DIGEST_BYTES, person=b"split.v1 chunk").digest()
_NUMBERS = 2


class Chunk(NamedTuple):
    """So many ``rows`` of a text from position ``start`` on."""

    start: int
    rows: int

    @property
    def end(self) -> int:
        """The position behind the last of them."""
        return self.start + self.rows


@dataclass(frozen=True, slots=True)
class Named:
    """A ``chunk`` and its ``name``, 16 bytes."""

    chunk: Chunk
    name: bytes


@dataclass(frozen=True, slots=True)
class Begun:
    """The rows of ``chunk`` up to the position ``reach``, which ``name`` names."""

    chunk: Chunk
    reach: int
    name: bytes


def chunk_name(rows: Tensor) -> bytes:
    """That of a chunk with these ``rows``."""
    return linked(SEED, rows)[-1]


def named(
    begun: Begun | None, pieces: Iterable[tuple[int, Tensor]], chunks: Sequence[Chunk]
) -> tuple[list[Named], Begun | None]:
    """Those of ``chunks`` that end in ``pieces``, rows by the position of the first of them, and
    the one that the last piece ends within.

    ``begun``: the one that the rows before them ended within. A chunk of which not all rows have
    come, one after the other, has no name.
    """
    found, left = list[Named](), None
    before, ends = begun, [chunk.end for chunk in chunks]
    for position, rows in pieces:
        end, left = position + rows.rows, None
        for chunk in chunks[bisect_right(ends, position) :]:
            if chunk.start >= end:
                break
            first = max(chunk.start, position)
            name = _so_far(before, chunk, first)
            if name is None:
                continue
            name = linked(name, rows.part(first - position, min(chunk.end, end) - position))[-1]
            if chunk.end <= end:
                found.append(Named(chunk, name))
            else:
                left = Begun(chunk, end, name)
        before = left
    return found, left


def _so_far(begun: Begun | None, chunk: Chunk, first: int) -> bytes | None:
    """What the row at position ``first`` of ``chunk`` is linked to, None where that is unknown."""
    if first == chunk.start:
        return SEED
    goes_on = begun is not None and (begun.chunk, begun.reach) == (chunk, first)
    return begun.name if goes_on and begun is not None else None


def chunks_field(value: Any) -> tuple[Chunk, ...]:
    """The chunks of a message, none where the field is missing: sorted, disjoint, of SHORTEST to
    LONGEST rows. Raises MalformedMessage.
    """
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MOST_CHUNKS:
        raise MalformedMessage(f"'chunks' must be a list of at most {MOST_CHUNKS} chunks")
    chunks = tuple(map(_chunk, value))
    if any(later.start < earlier.end for earlier, later in pairwise(chunks)):
        raise MalformedMessage("'chunks' must be sorted and disjoint")
    return chunks


def chunks_of_rows(value: Any, start: int, end: int) -> tuple[Chunk, ...]:
    """:func:`chunks_field` of a step with the rows from ``start`` to ``end``, some of which are in
    each.
    """
    chunks = chunks_field(value)
    if any(chunk.end <= start or chunk.start >= end for chunk in chunks):
        raise MalformedMessage("each of 'chunks' must have a row of the step")
    return chunks


def _chunk(value: Any) -> Chunk:
    if not isinstance(value, list) or len(value) != _NUMBERS:
        raise MalformedMessage("a chunk must be a list of two numbers")
    start, rows = value
    whole = all(isinstance(each, int) and not isinstance(each, bool) for each in value)
    if not whole or not 0 <= start <= MAX_STEP or not SHORTEST <= rows <= LONGEST:
        raise MalformedMessage(f"a chunk begins at a position and has {SHORTEST} to {LONGEST} rows")
    return Chunk(start, rows)


def chunks_value(chunks: Sequence[Chunk]) -> list[list[int]]:
    """As they travel."""
    return [list(chunk) for chunk in chunks]


def names_of(packed: bytes) -> list[bytes]:
    """Names that lie one after the other."""
    return [packed[at : at + DIGEST_BYTES] for at in range(0, len(packed), DIGEST_BYTES)]
