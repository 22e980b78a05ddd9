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
from split_server.checkpoint.layers.file import LayerFile
from split_server.checkpoint.layers.folder import LayerFolder
from split_server.checkpoint.layers.layout import LayerIndex, StoredLayer, StoredTensor, laid_out
from split_server.checkpoint.layers.writing import Fill
from split_server.engine.linears.choice import threads_set
from split_server.engine.linears.int4.stored import read_tensor
from split_server.engine.model.convert import WIRE_NAMES
from split_server.engine.model.grouped import module_of
from split_server.engine.model.packed import PACKED_ATTENTION
from split_server.engine.streamed.integers import (
    Shapes,
    kernel_name,
    stored_tensors,
    write_values,
)
from split_server.engine.streamed.layers import Stream, StreamedLayer
from split_server.errors import MalformedCheckpoint

_LAYERS = "model.layers."


@dataclass(frozen=True, slots=True)
class LayersOnDisk:
    """``numbers`` of the layers that are read from ``file`` in each pass."""

    numbers: Sequence[int]
    file: LayerFile


def layer_file(
    checkpoint: Checkpoint,
    dtype: torch.dtype,
    folder: Path,
    digest: str,
    *,
    quantize: str = "none",
) -> LayerFile:
    """The layers of ``checkpoint``, whose weights have this ``digest``, in a file in ``folder``.

    ``quantize``: none, or int8 where ``raw_fault`` finds none. Made now, which takes minutes, where
    there is none. Raises LayersNotKept, MalformedCheckpoint.
    """
    layers, name = _shapes(checkpoint), WIRE_NAMES[dtype]
    # Values are converted one tensor at a time while the disk writes; a team of threads would stay.
    with threads_set(1):
        if quantize == "int8":
            stored = [laid_out(stored_tensors(shapes, name)) for shapes in layers]
            index = LayerIndex(f"{digest} {name} int8 {kernel_name(layers)}", tuple(stored))
            fill = _filling_integers(index, layers, checkpoint, dtype)
        else:
            index = LayerIndex(f"{digest} {name} plain", _plain(layers, name))
            fill = _filling(index, checkpoint, dtype)
        return LayerFolder(folder).opened(index, fill)


def streamed_module(checkpoint: Checkpoint, dtype: torch.dtype, on_disk: LayersOnDisk) -> Any:
    """The module in ``dtype``, without values of the layers that are on disk.

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


def stream_layers(module: Any, on_disk: LayersOnDisk) -> Stream:
    """Have the layers of ``module`` that are on disk compute with what is read there.

    Raises MalformedCheckpoint where that is not what they compute with.
    """
    stream = Stream(on_disk.file, on_disk.numbers)
    try:
        for place, number in enumerate(stream.numbers):
            module.layers[number] = StreamedLayer(module.layers[number], stream, place)
    except KeyError as error:
        stream.close()
        raise MalformedCheckpoint(f"a layer of the checkpoint lacks {error}") from error
    return stream


def _shapes(checkpoint: Checkpoint) -> list[dict[str, tuple[int, ...]]]:
    """Of all tensors of each layer, by their names within the layer."""
    found: list[dict[str, tuple[int, ...]]] = [
        {} for _ in range(int(checkpoint.config["num_hidden_layers"]))
    ]
    for name, tensor in checkpoint.tensors.items():
        number, _, rest = name.removeprefix(_LAYERS).partition(".")
        if name.startswith(_LAYERS) and number.isdecimal() and int(number) < len(found):
            found[int(number)][rest] = tuple(tensor.shape)
    lacking = next((number for number, tensors in enumerate(found) if not tensors), None)
    if lacking is not None:
        raise MalformedCheckpoint(f"{checkpoint.name} lacks layer {lacking}")
    return found


def _plain(layers: Sequence[Shapes], dtype: str) -> tuple[StoredLayer, ...]:
    return tuple(
        laid_out([StoredTensor(name, dtype, tuple(shape)) for name, shape in shapes.items()])
        for shapes in layers
    )


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
            stored = checkpoint.tensors[f"{_LAYERS}{number}.{tensor.name}"]
            place = buffer[tensor.offset : tensor.offset + tensor.size]
            values = torch.frombuffer(place, dtype=dtype).view(tensor.shape)
            values.copy_(read_tensor(stored))

    return fill


def _filling_integers(
    index: LayerIndex, layers: Sequence[Shapes], checkpoint: Checkpoint, dtype: torch.dtype
) -> Fill:
    """Puts layers with int8 matrices into a buffer, a group of matrices at a time."""

    def fill(number: int, buffer: memoryview) -> None:
        def read(name: str) -> torch.Tensor:
            return read_tensor(checkpoint.tensors[f"{_LAYERS}{number}.{name}"]).to(dtype)

        write_values(index.layers[number], layers[number], read, buffer)

    return fill
