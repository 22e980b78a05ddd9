"""Layer files with known bytes, for tests of what reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from split_server.checkpoint.layers.file import LayerFile
from split_server.checkpoint.layers.folder import LayerFolder
from split_server.checkpoint.layers.layout import LayerIndex, StoredTensor, laid_out

LAYERS = 5


def index_of(source: str = "a model", rows: int = 40, layers: int = LAYERS) -> LayerIndex:
    """``layers`` layers of two tensors, neither of whose sizes is a multiple of anything."""
    tensors = [
        StoredTensor("one.weight", "f32", (rows, 33)),
        StoredTensor("two.weight", "bf16", (rows, 21)),
    ]
    return LayerIndex(source, tuple(laid_out(tensors) for _ in range(layers)))


def values_of(index: LayerIndex, layer: int) -> bytes:
    """The bytes of a layer, other ones for each."""
    whole = bytearray(index.layers[layer].size)
    random = np.random.default_rng(layer)
    for tensor in index.layers[layer].tensors:
        whole[tensor.offset : tensor.offset + tensor.size] = random.bytes(tensor.size)
    return bytes(whole)


def opened(folder: Path, index: LayerIndex | None = None) -> LayerFile:
    """The layer file of ``index`` in ``folder``, made where there is none."""
    wanted = index or index_of()

    def fill(layer: int, buffer: memoryview) -> None:
        buffer[:] = values_of(wanted, layer)

    return LayerFolder(folder).opened(wanted, fill)
