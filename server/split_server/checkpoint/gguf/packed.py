"""The blocks of a GGUF's tables, kept beside the rows that were made of them.

A table of Q8_0 takes 34 bytes for 32 values, 64 as bfloat16: a device that fetches the blocks makes
the same rows of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from split_server.checkpoint.families import EMBEDDING, EMBEDDING_FILE, HEAD, HEAD_FILE
from split_server.checkpoint.gguf.blocks import Q8_0
from split_server.checkpoint.gguf.index import Place
from split_server.checkpoint.gguf.source import Source
from split_server.checkpoint.packed_rows import PACKED_DTYPE
from split_server.checkpoint.safetensors_index import TensorSlice, index_file
from split_server.checkpoint.slices import FileSource, ReadAt
from split_wire.blocks import Q8_0_SUFFIX, q8_0_size, q8_0_to_bf16

_FILES = {EMBEDDING: EMBEDDING_FILE, HEAD: HEAD_FILE}
# A megabyte of rows: so many bytes are whole blocks.
_ROWS_AT_ONCE = 1 << 20


def packed_size(places: Mapping[str, Place], new_names: Mapping[str, str], dtype: str) -> int:
    """Bytes that the blocks of the tables take beside rows of ``dtype``."""
    tables = _tables(places, new_names).values() if dtype == "bfloat16" else ()
    return sum(place.size for place in tables)


def write_packed(
    folder: Path, source: Source, places: Mapping[str, Place], new_names: Mapping[str, str]
) -> None:
    """Write the blocks of each table of Q8_0 whose rows in ``folder`` are those blocks rounded to
    bfloat16, bit by bit. Raises MalformedCheckpoint, OSError.
    """
    rows = index_file(folder / "model.safetensors")
    for tensor, place in _tables(places, new_names).items():
        if rows[tensor].dtype == PACKED_DTYPE:
            path = folder / f"{_FILES[tensor]}{Q8_0_SUFFIX}"
            with path.open("wb") as file:
                same = _copied(file, source, place, rows[tensor])
            if not same:
                path.unlink()


def _tables(places: Mapping[str, Place], new_names: Mapping[str, str]) -> dict[str, Place]:
    named = {new_names[old]: place for old, place in places.items()}
    return {name: named[name] for name in _FILES if name in named and named[name].kind == Q8_0}


def _copied(file: BinaryIO, source: Source, place: Place, rows: TensorSlice) -> bool:
    """Whether all blocks are those of the rows; ``file`` has them then."""
    with FileSource.of(rows).opened() as read:
        return all(
            _copied_part(file, source, place, read, first, min(_ROWS_AT_ONCE, rows.size - first))
            for first in range(0, rows.size, _ROWS_AT_ONCE)
        )


def _copied_part(
    file: BinaryIO, source: Source, place: Place, read: ReadAt, first: int, count: int
) -> bool:
    """The blocks of ``count`` bytes of the rows, from the byte ``first`` on."""
    blocks = source.read(place.offset + q8_0_size(first), q8_0_size(count))
    file.write(blocks)
    return q8_0_to_bf16(blocks) == read(first, count)
