"""Rows of an end in the blocks that they were made of: a file beside a checkpoint's safetensors.

``embedding.bin.q8_0`` and ``head.bin.q8_0`` of a folder that was made of a GGUF hold the blocks of
its own table, where those give the stored bfloat16 rows bit by bit. They say nothing that the rows
do not say, so the manifest does not name them: they are another way for the same bytes, which
whoever reads them compares with the manifest's digests.
"""

from __future__ import annotations

import os
from pathlib import Path

from split_files import open_regular
from split_server.checkpoint.safetensors_index import TensorSlice
from split_server.checkpoint.slices import FileSource
from split_wire.blocks import q8_0_fits, q8_0_size

PACKED_DTYPE = "bf16"


def packed_source(path: Path, rows: TensorSlice) -> FileSource | None:
    """The blocks of ``rows`` in the file ``path``; None where there are none that fit.

    Bytes that fit by their number and are others (rows that were changed since) only cost their
    readers the time to find out.
    """
    if rows.dtype != PACKED_DTYPE or not q8_0_fits(rows.size):
        return None
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return None
    if size != q8_0_size(rows.size):
        return None
    return FileSource.whole(path)
