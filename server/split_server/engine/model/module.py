"""The middle of a model as a module of Hugging Face's: decoder layers and final norm."""

from __future__ import annotations

from typing import Any

import torch
import transformers

from split_server.checkpoint.folder import Checkpoint
from split_server.engine.model.grouped import grouped_module
from split_server.engine.model.packed import PACKED_ATTENTION
from split_server.errors import MalformedCheckpoint


def load_module(checkpoint: Checkpoint, dtype: torch.dtype) -> Any:
    """The module in ``dtype``; of matrices in groups with stand-ins (``grouped``).

    Raises MalformedCheckpoint.
    """
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        module = _loaded(checkpoint, dtype)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise MalformedCheckpoint(f"{checkpoint.name} cannot be loaded: {error}") from error
    # The device holds the embedding table; here it would only take memory.
    module.set_input_embeddings(torch.nn.Identity())
    return module.eval().requires_grad_(requires_grad=False)


def own_memory(module: torch.nn.Module) -> None:
    """Copy what is still mapped from the checkpoint's files, a tensor at a time.

    A file that is rewritten in place would change the model that runs, and one that is cut short
    would end the process.
    """
    for tensor in (*module.parameters(), *module.buffers()):
        tensor.data = tensor.data.clone()


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
