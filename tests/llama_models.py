"""Models in llama.cpp for tests: tiny checkpoints as GGUF files, loaded by the engine's own way.

The library is no part of the usual environment, since it is built from source; where it is missing,
tests of it are skipped by name, and fail with ``GATELINK_LLAMA`` set.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from split_server.checkpoint.folder import Checkpoint, read_checkpoint
from split_server.checkpoint.gguf.folder import write_split_folder
from split_server.checkpoint.gguf.source import Source
from split_server.errors import EngineUnusable
from split_server.llama.library import Library, open_library
from split_server.llama.model import LlamaModel, load_llama, planned
from split_server.memory.limit import Room
from tests.gguf_files import OVERRIDES, as_gguf

FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "phi3", "starcoder2", "gemma2", "gemma3_text")
# ggml looks GELU up in a table of half precision.
OF_TABLES = ("starcoder2", "gemma2", "gemma3_text")
PLENTY = Room(2 << 30, "test")


def library() -> Library:
    """The library, or a skip where there is none."""
    try:
        return open_library()
    except EngineUnusable as error:
        missing = pytest.fail if os.environ.get("GATELINK_LLAMA") else pytest.skip
        missing(f"llama-cpp-python: {error}")


def split_folder(path: Path, folder: Path, dtype: str = "auto", **options: Any) -> Checkpoint:
    """The checkpoint that the engine loads, made in ``folder`` of the one at ``path``."""
    file = as_gguf(path, folder / f"{path.name}.gguf", **options)
    with Source(file) as source:
        write_split_folder(source, folder / "split", "ab" * 32, dtype)
    return read_checkpoint(folder / "split", path.name)


def overrides(family: str) -> dict[str, Any]:
    """What of a tiny checkpoint is another in GGUF."""
    return OVERRIDES.get(family, {})


def loaded(checkpoint: Checkpoint, sessions: int = 16, cache_bytes: int = 0) -> LlamaModel:
    """The middle of ``checkpoint``, computing in one thread."""
    library()
    plan = planned(checkpoint, "auto", PLENTY, cache_bytes)
    return load_llama(
        checkpoint, plan, sessions=sessions, threads=1, out_of_memory=lambda n: MemoryError(n)
    )
