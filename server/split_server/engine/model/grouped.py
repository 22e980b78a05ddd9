"""Models whose matrices lie in groups (AWQ, GPTQ): the module, and what fills its places.

Hugging Face's class is built around stand-ins that take no memory, so that no matrix is ever held
but as it is to be kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import transformers
from transformers.models.auto.modeling_auto import MODEL_MAPPING

from split_server.checkpoint.families import EMBEDDING, HEAD, HEAD_BIAS
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.grouped.matrices import GroupedMatrix
from split_server.engine.linears.int4.stored import (
    fits_kernel,
    int4_stored,
    plain_stored,
    read_tensor,
)
from split_server.engine.linears.prepacked import linear_places
from split_server.errors import MalformedCheckpoint

_PREFIX = "model."


def grouped_module(checkpoint: Checkpoint, dtype: torch.dtype, **options: Any) -> Any:
    """The model of ``checkpoint`` with stand-ins for its matrices in groups and embedding table.

    ``options`` go to ``from_pretrained``. Raises MalformedCheckpoint.
    """
    config = transformers.AutoConfig.from_pretrained(
        checkpoint.path, local_files_only=True, trust_remote_code=False
    )
    del config.quantization_config
    return module_of(checkpoint, config, _state(checkpoint, dtype), dtype=dtype, **options)


def module_of(
    checkpoint: Checkpoint, config: Any, state: Mapping[str, torch.Tensor], **options: Any
) -> Any:
    """The model of ``config`` with the tensors of ``state``; ``options`` go to ``from_pretrained``.

    Raises MalformedCheckpoint.
    """
    # What is missing or of another shape is told, and refused below.
    options |= {"output_loading_info": True, "ignore_mismatched_sizes": True}
    module, loaded = MODEL_MAPPING[type(config)].from_pretrained(
        None, config=config, state_dict=state, **options
    )
    lacking = sorted(loaded["missing_keys"]) or sorted(map(str, loaded["mismatched_keys"]))
    if lacking:
        raise MalformedCheckpoint(f"{checkpoint.name} lacks {lacking[0]}, or it has another shape")
    return module


def fill(module: torch.nn.Module, checkpoint: Checkpoint, *, int4: bool) -> int:
    """Put the matrices of ``checkpoint`` in their places; the number of those kept as ``int4``.

    The others are plain, in the dtype of ``module``. Raises MalformedCheckpoint.
    """
    names = {id(layer): name for name, layer in module.named_modules()}
    matrices = {name.removeprefix(_PREFIX): one for name, one in checkpoint.grouped.items()}
    kept = 0
    for place in list(linear_places(module)):
        matrix = matrices.pop(names[id(place.linear)], None)
        if matrix is None:
            continue
        _check(matrix, place.linear, checkpoint)
        if int4 and fits_kernel(matrix):
            place.put(int4_stored(matrix, place.linear.bias, place.linear.weight.dtype))
            kept += 1
        else:
            place.linear.weight.data = plain_stored(matrix, place.linear.weight.dtype)
    if matrices:
        raise MalformedCheckpoint(
            f"{checkpoint.name} has a quantized {next(iter(matrices))}, which no layer is; "
            "ends of a model are served as plain rows only"
        )
    return kept


def _state(checkpoint: Checkpoint, dtype: torch.dtype) -> Mapping[str, torch.Tensor]:
    state = {
        name: read_tensor(tensor)
        for name, tensor in checkpoint.tensors.items()
        if name not in (EMBEDDING, HEAD, HEAD_BIAS)
    }
    nothing = torch.zeros((), dtype=dtype)
    for name, matrix in checkpoint.grouped.items():
        state[f"{name}.weight"] = nothing.expand(matrix.rows, matrix.columns)
    state[EMBEDDING] = nothing.expand(checkpoint.tensors[EMBEDDING].shape)
    return state


def _check(matrix: GroupedMatrix, linear: torch.nn.Linear, checkpoint: Checkpoint) -> None:
    if (matrix.rows, matrix.columns) != tuple(linear.weight.shape):
        raise MalformedCheckpoint(
            f"{matrix.name} is {matrix.rows} x {matrix.columns}, "
            f"not {linear.out_features} x {linear.in_features}"
        )
    # Some writers keep a bias of zeros where the family has none.
    bias = checkpoint.tensors.get(f"{matrix.name}.bias")
    if bias is not None and linear.bias is None and bool(read_tensor(bias).any()):
        raise MalformedCheckpoint(f"{matrix.name} has a bias, which its family has not")
