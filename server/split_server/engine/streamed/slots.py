"""Memory of one layer each, which is filled again and again."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from contextlib import suppress

import torch

from split_server.checkpoint.layers.layout import StoredLayer

# One that is computed with, one that is ready, one that is being read.
SLOTS = 3
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


class Slot:
    """``buffer`` of ``size`` bytes, which begins at a page, as direct reads want it."""

    def __init__(self, size: int) -> None:
        # Memory of this process alone: what is shared counts otherwise, and is made of small pages.
        self._pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        with suppress(OSError, AttributeError):
            # A product that reads a whole matrix waits for the addresses of its pages, too.
            self._pages.madvise(mmap.MADV_HUGEPAGE)
        self.buffer = memoryview(self._pages)
        # What is not there is found out now, and not in the middle of a pass.
        torch.frombuffer(self._pages, dtype=torch.uint8).zero_()

    @property
    def address(self) -> int:
        """Where ``buffer`` begins."""
        return torch.frombuffer(self._pages, dtype=torch.uint8).data_ptr()

    def settle(self, layer: StoredLayer) -> None:
        """``buffer`` has ``layer``, whose tensors are in it."""

    def tensors(self, layer: StoredLayer) -> Mapping[str, torch.Tensor]:
        """Views of what ``layer`` has in this slot, by their names."""
        whole = torch.frombuffer(self._pages, dtype=torch.uint8)
        return {
            tensor.name: whole[tensor.offset : tensor.offset + tensor.size]
            .view(DTYPES[tensor.dtype])
            .view(tensor.shape)
            for tensor in layer.tensors
        }
