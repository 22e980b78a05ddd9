"""The middle of a model of which some decoder layers stay on disk.

Hugging Face's class is built around stand-ins for them that take no memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from split_server.checkpoint.families import EMBEDDING, HEAD, HEAD_BIAS
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.layers.folder import LayerFolder
from split_server.checkpoint.layers.layout import LayerIndex, StoredTensor, laid_out
from split_server.checkpoint.layers.writing import Fill
from split_server.engine.linears.int4.stored import read_tensor
from split_server.engine.model.convert import WIRE_NAMES
from split_server.engine.model.grouped import module_of
from split_server.engine.model.packed import PACKED_ATTENTION
from split_server.engine.streamed.layers import Stream, StreamedLayer
from split_server.errors import MalformedCheckpoint

_LAYERS = "model.layers."


@dataclass(frozen=True, slots=True)
class LayersOnDisk:
    """``numbers`` of the layers that are read in each pass, from a file in ``folder`` that is made
    of the weights with this ``digest``.
    """

    numbers: Sequence[int]
    folder: Path
    digest: str

    def source(self, dtype: torch.dtype) -> str:
        """What a layer file in ``dtype`` says it was made of."""
        return f"{self.digest} {WIRE_NAMES[dtype]} plain"


def streamed_module(checkpoint: Checkpoint, dtype: torch.dtype, on_disk: LayersOnDisk) -> Any:
    """The module in ``dtype`` without values of the layers that are on disk.

    Raises MalformedCheckpoint.
    """
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        config = transformers.AutoConfig.from_pretrained(
            checkpoint.path, local_files_only=True, trust_remote_code=False
        )
        state = _state(checkpoint, dtype, on_disk.numbers)
        module = module_of(
            checkpoint, config, state, dtype=dtype, attn_implementation=PACKED_ATTENTION
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise MalformedCheckpoint(f"{checkpoint.name} cannot be loaded: {error}") from error
    module.set_input_embeddings(torch.nn.Identity())
    return module.eval().requires_grad_(requires_grad=False)


def stream_layers(
    module: Any, checkpoint: Checkpoint, dtype: torch.dtype, on_disk: LayersOnDisk
) -> Stream:
    """Have the layers of ``module`` that are on disk compute with what is read there.

    Raises LayersNotKept, MalformedCheckpoint.
    """
    kind = WIRE_NAMES[dtype]
    layers = tuple(
        laid_out(
            [
                StoredTensor(name, kind, tuple(parameter.shape))
                for name, parameter in layer.named_parameters()
            ]
        )
        for layer in module.layers
    )
    index = LayerIndex(on_disk.source(dtype), layers)
    file = LayerFolder(on_disk.folder).opened(index, _filling(index, checkpoint, dtype))
    stream = Stream(file, on_disk.numbers)
    for place, number in enumerate(stream.numbers):
        module.layers[number] = StreamedLayer(module.layers[number], stream, place)
    return stream


def _state(
    checkpoint: Checkpoint, dtype: torch.dtype, numbers: Sequence[int]
) -> Mapping[str, torch.Tensor]:
    """Stand-ins for the layers of these ``numbers`` and the embedding table, and the others."""
    apart = tuple(f"{_LAYERS}{number}." for number in numbers)
    nothing = torch.zeros((), dtype=dtype)
    state = {EMBEDDING: nothing.expand(checkpoint.tensors[EMBEDDING].shape)}
    for name, tensor in checkpoint.tensors.items():
        if name.startswith(apart):
            state[name] = nothing.expand(tensor.shape)
        elif name not in (EMBEDDING, HEAD, HEAD_BIAS):
            state[name] = read_tensor(tensor).to(dtype)
    return state


def _filling(index: LayerIndex, checkpoint: Checkpoint, dtype: torch.dtype) -> Fill:
    """Puts layers of ``checkpoint`` into a buffer, a tensor at a time."""

    def fill(number: int, buffer: memoryview) -> None:
        for tensor in index.layers[number].tensors:
            stored = checkpoint.tensors.get(f"{_LAYERS}{number}.{tensor.name}")
            if stored is None or stored.shape != tensor.shape:
                raise MalformedCheckpoint(
                    f"{checkpoint.name} lacks {tensor.name} of layer {number}, or it has another "
                    "shape"
                )
            place = buffer[tensor.offset : tensor.offset + tensor.size]
            values = torch.frombuffer(place, dtype=dtype).view(tensor.shape)
            values.copy_(read_tensor(stored))

    return fill
