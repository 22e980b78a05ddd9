"""What the columns of a model's matrices meet: mean squares of the inputs of its linear layers.

Measured with embedding rows of tokens drawn at random, so that neither a text nor a tokenizer is
needed. The columns whose inputs are large are the same for texts, because they are the model's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from split_server.checkpoint.safetensors_index import TensorSlice
from split_server.engine.linears.int4.stored import read_tensor
from split_server.engine.linears.prepacked import linear_places
from split_server.engine.model.packed import PackedBatch, Slice
from split_server.kv.cache import KVCache

# Sequences, and rows of each.
_SEQUENCES, _ROWS = 4, 128


def random_rows(table: TensorSlice) -> torch.Tensor:
    """[sequences, n, H], float32: rows of an embedding table [vocabulary, H], always the same.

    Raises MalformedCheckpoint.
    """
    generator = torch.Generator().manual_seed(0)
    count, width = table.shape
    size = table.size // count
    ids = torch.randint(0, count, (_SEQUENCES * _ROWS,), generator=generator).tolist()
    rows = [
        read_tensor(replace(table, offset=table.offset + index * size, size=size, shape=(width,)))
        for index in ids
    ]
    return torch.stack(rows).float().view(_SEQUENCES, _ROWS, width)


def input_moments(module: Any, rows: torch.Tensor) -> dict[torch.nn.Module, torch.Tensor]:
    """Mean squares [in] of the inputs of each linear layer of ``module``, float32, while it
    computes ``rows`` [sequences, n, H] on a processor.

    Where inputs are beyond the dtype, every column counts the same.
    """
    found: dict[torch.nn.Module, torch.Tensor] = {}
    seen: list[torch.Tensor] = []

    def watch(layer: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        # Layers that read the same input follow each other.
        if not seen or seen[0] is not inputs[0]:
            seen[:] = inputs[0], inputs[0].float().square().sum(dim=(0, 1))
        found[layer] = found.get(layer, 0.0) + seen[1]

    linears = [place.linear for place in linear_places(module)]
    handles = [linear.register_forward_pre_hook(watch) for linear in linears]
    try:
        with torch.inference_mode():
            for sequence in rows:
                _pass(module, sequence)
    finally:
        for handle in handles:
            handle.remove()
    total = rows.shape[0] * rows.shape[1]
    return {layer: _usable(squares / total) for layer, squares in found.items()}


def _pass(module: Any, rows: torch.Tensor) -> None:
    batch = PackedBatch([Slice(KVCache(), 0, rows)])
    positions = batch.positions(rows.device)
    module(inputs_embeds=batch.embeddings(), position_ids=positions, use_cache=False, packed=batch)


def _usable(squares: torch.Tensor) -> torch.Tensor:
    return squares if bool(squares.isfinite().all()) else torch.ones_like(squares)
