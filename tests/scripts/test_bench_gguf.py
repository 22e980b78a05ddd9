"""The GGUF files that llama.cpp is measured with: all of a checkpoint but most of its rows."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest

from scripts.bench.peers.gguf_file import write
from tests.checkpoints import tiny_checkpoint
from tests.gguf_files import as_gguf

_ROWS = 32


def _tensors(file: Path) -> dict[str, np.ndarray]:
    return {one.name: np.asarray(one.data, np.float32) for one in gguf.GGUFReader(file).tensors}


@pytest.mark.parametrize("family", ["llama", "qwen2", "qwen3"])
def test_a_checkpoint_becomes_what_llama_cpp_reads(family: str, tmp_path: Path) -> None:
    halves = tiny_checkpoint(family, tmp_path / "bfloat16", dtype="bfloat16")
    whole = tiny_checkpoint(family, tmp_path / "float32")
    write(halves, tmp_path / "made.gguf", "f16")
    made = _tensors(tmp_path / "made.gguf")
    expected = _tensors(as_gguf(whole, tmp_path / "expected.gguf"))
    expected["token_embd.weight"] = expected["token_embd.weight"][:_ROWS]
    assert made.keys() == expected.keys()
    for name, values in made.items():
        assert values.shape == expected[name].shape
        # bfloat16 keeps 8 bits.
        assert np.allclose(values, expected[name], rtol=2**-8, atol=1e-6), name
