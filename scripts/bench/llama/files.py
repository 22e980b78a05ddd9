"""GGUF files for the benchmarks, and their middles as the engine has them."""

from __future__ import annotations

import ctypes
from pathlib import Path

from split_server.checkpoint.gguf.config import model_config
from split_server.checkpoint.gguf.index import read_index
from split_server.checkpoint.gguf.middle import write_middle
from split_server.checkpoint.gguf.source import Source
from split_server.llama.library import open_library

# enum llama_ftype.
KINDS = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 7, "q4_K": 15}


def quantized(file: Path, kind: str) -> Path:
    """``file`` with its matrices in another type, beside it."""
    made = file.with_name(f"{file.stem}-{kind}.gguf")
    if made.exists():
        return made
    functions = open_library().functions
    options = functions.llama_model_quantize_default_params()
    options.ftype, options.allow_requantize = KINDS[kind], True
    partial = made.with_suffix(".partial")
    code = functions.llama_model_quantize(
        str(file).encode(), str(partial).encode(), ctypes.byref(options)
    )
    if code:
        raise SystemExit(f"llama.cpp did not make {kind} of {file.name}")
    partial.rename(made)
    return made


def middle_of(file: Path) -> Path:
    """The middle of ``file`` with the few head rows that the engine leaves, beside it."""
    made = file.with_suffix(".middle")
    with Source(file) as source:
        index = read_index(source)
        rows = index.tensors["token_embd.weight"].shape[0]
        tied = "output.weight" not in index.tensors
        config = model_config(index.metadata, vocabulary=rows, tied=tied)
        with made.open("wb") as target:
            write_middle(target, source, index, config)
    return made
