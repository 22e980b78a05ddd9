"""A small model imported from a GGUF whose table is Q8_0, and the same without its blocks."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from split_server.checkpoint.gguf.importing import imported_folder
from split_wire.blocks import q8_0_size
from tests.checkpoints import tiny_checkpoint
from tests.gguf_files import as_gguf

TABLE, PACKED = "embedding.bin", "embedding.bin.q8_0"


@dataclass(frozen=True)
class PackedModel:
    """``packed`` has the blocks of its table beside its rows, ``plain`` is the same folder without
    them; ``table``: bytes of the rows.
    """

    packed: Path
    plain: Path
    table: int

    @property
    def spared(self) -> int:
        """Bytes that do not travel where the blocks do."""
        return self.table - q8_0_size(self.table)


def packed_model(folder: Path) -> PackedModel:
    """Import a tied llama into ``folder``."""
    made = tiny_checkpoint("llama", folder / "hf")
    file = as_gguf(made, folder / "m.gguf", q8_0=("token_embd.weight",))
    packed = imported_folder(file, folder / "packed" / "model")
    plain = shutil.copytree(packed, folder / "plain" / "model")
    (plain / PACKED).unlink()
    return PackedModel(packed, plain, (packed / PACKED).stat().st_size // 34 * 64)
