"""The checkpoint that settings name, in the form that their engine computes with."""

from __future__ import annotations

from split_server.checkpoint.folder import Checkpoint, open_checkpoint, open_split_gguf
from split_server.serving.config import ComputeConfig

# llama.cpp gives hidden states in float32; ends are stored in what the import knows.
_ENDS = {"auto": "auto", "float32": "float32", "float16": "bfloat16", "bfloat16": "bfloat16"}


def open_for(config: ComputeConfig) -> Checkpoint:
    """Open it, after a download or an import where it needs one.

    Raises CheckpointNotFound, UnsafeCheckpoint, MalformedCheckpoint, UnsupportedFamily,
    NoSpaceForCheckpoint.
    """
    if config.engine == "llama":
        return open_split_gguf(config.path, _ENDS[config.dtype])
    return open_checkpoint(config.path)
