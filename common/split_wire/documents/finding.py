"""What a device asks about chunks of a text that it is about to send, and what it is told."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from split_wire.digest import DIGEST_BYTES
from split_wire.documents.chunks import MOST_CHUNKS, Chunk, chunks_field
from split_wire.errors import MalformedMessage
from split_wire.fields import Fields
from split_wire.frame import Frame


@dataclass(frozen=True, slots=True)
class Find:
    """Which of ``chunks`` does the server have? ``names``: 16 bytes each."""

    session: str
    chunks: tuple[Chunk, ...]
    names: bytes


@dataclass(frozen=True, slots=True)
class Found:
    """It has those of these numbers, from 0 on."""

    session: str
    known: tuple[int, ...] = ()


def parse_find(fields: Fields, frame: Frame) -> Find:
    """Raises MalformedMessage."""
    chunks = chunks_field(frame.header.get("chunks"))
    if not chunks:
        raise MalformedMessage("'chunks' must have a chunk")
    names = fields.digest("names", DIGEST_BYTES * len(chunks))
    return Find(fields.text("session"), chunks, names)


def parse_found(fields: Fields, frame: Frame) -> Found:
    """Raises MalformedMessage."""
    return Found(fields.text("session"), _numbers(frame.header.get("known")))


def _numbers(value: Any) -> tuple[int, ...]:
    if value is None:
        return ()
    whole = isinstance(value, list) and len(value) <= MOST_CHUNKS
    if not whole or not all(type(each) is int and 0 <= each < MOST_CHUNKS for each in value):
        raise MalformedMessage(f"'known' must be a list of numbers below {MOST_CHUNKS}")
    if any(later <= earlier for earlier, later in pairwise(value)):
        raise MalformedMessage("'known' must be sorted, each number once")
    return tuple(value)
