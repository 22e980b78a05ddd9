"""The middle of a model as a module of Hugging Face's: decoder layers and final norm."""

from __future__ import annotations

import os
from typing import Any

import torch
import transformers

from split_server.checkpoint.folder import Checkpoint
from split_server.engine.model.grouped import grouped_module
from split_server.engine.model.packed import PACKED_ATTENTION
from split_server.errors import MalformedCheckpoint

# Of transformers: it loads on the calling thread (core_model_loading.py).
_ON_ONE_THREAD = "HF_DEACTIVATE_ASYNC_LOAD"
# About a millisecond.
_COPIED_BYTES = 4 << 20


def load_module(checkpoint: Checkpoint, dtype: torch.dtype) -> Any:
    """The module in ``dtype``; of matrices in groups with stand-ins (``grouped``).

    Raises MalformedCheckpoint.
    """
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        module = _loaded(checkpoint, dtype)
    # What the libraries raise for what files say has many types, some of them their own.
    except Exception as error:
        raise MalformedCheckpoint(f"{checkpoint.name} cannot be loaded: {error}") from error
    # The device holds the embedding table; here it would only take memory.
    module.set_input_embeddings(torch.nn.Identity())
    return module.eval().requires_grad_(requires_grad=False)


def load_on_one_thread() -> None:
    """Have modules loaded on the thread that asks alone, since others give way to nobody; for a
    process that is about to begin, whose other threads must not read the environment.
    """
    os.environ.setdefault(_ON_ONE_THREAD, "1")


def own_memory(module: torch.nn.Module) -> None:
    """Copy what is still mapped from the checkpoint's files, a tensor at a time, in small calls.

    A file that is rewritten in place would change the model that runs, and one that is cut short
    would end the process.
    """
    for tensor in (*module.parameters(), *module.buffers()):
        tensor.data = _copied(tensor.data)


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_contiguous():
        return tensor.clone()
    copy = torch.empty_like(tensor)
    size = max(1, _COPIED_BYTES // tensor.element_size())
    values, copied = tensor.view(-1), copy.view(-1)
    for begin in range(0, len(values), size):
        copied[begin : begin + size].copy_(values[begin : begin + size])
    return copy


def _loaded(checkpoint: Checkpoint, dtype: torch.dtype) -> Any:
    if checkpoint.grouped:
        return grouped_module(checkpoint, dtype, attn_implementation=PACKED_ATTENTION)
    return transformers.AutoModel.from_pretrained(
        checkpoint.path,
        dtype=dtype,
        attn_implementation=PACKED_ATTENTION,
        use_safetensors=True,
        local_files_only=True,
        trust_remote_code=False,
    )
