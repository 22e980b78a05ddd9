"""What is wrong with a layer file that lies on disk."""

from __future__ import annotations

from typing import ClassVar


class LayerFileDamaged(Exception):
    """Bytes that are not the layers that were written; the message is the reason alone."""

    code: ClassVar[str] = "layer_file_damaged"
