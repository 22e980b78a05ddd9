"""float16 copies of tensors against numpy and torch."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from split_server.checkpoint import half_rows
from split_server.checkpoint.half_rows import HalfSource, as_f32_bytes
from split_server.checkpoint.safetensors_index import index_file

_DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def _source(path: Path, values: torch.Tensor) -> HalfSource:
    save_file({"t": values}, path)
    return HalfSource.of(index_file(path)["t"])


@pytest.mark.parametrize("dtype", _DTYPES)
def test_every_range_equals_the_conversion_of_the_whole(dtype: str, tmp_path: Path) -> None:
    values = torch.randn(13, 7, generator=torch.Generator().manual_seed(1)).to(_DTYPES[dtype])
    source = _source(tmp_path / "w", values)
    expected = values.to(torch.float16).numpy().tobytes()
    assert source.size == len(expected)
    with source.opened() as read:
        for first in (0, 1, 2, 7, 100):
            for length in (1, 2, 3, 50, 10_000):
                assert read(first, length) == expected[first : first + length]


def test_lossy_values_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half_rows, "CHUNK_BYTES", 8)
    values = torch.tensor([[1.0, 0.1, 65504.0, 1e6], [2.0**-24, 2.0**-26, -0.5, 3.0]])
    digests, changed = _source(tmp_path / "w", values).measure()
    # 0.1 has no exact float16, 1e6 is beyond its range, 2^-26 below it.
    assert changed == 3
    with np.errstate(over="ignore"):
        data = values.numpy().astype("<f2").tobytes()
    assert digests.sha256 == hashlib.sha256(data).hexdigest()
    assert digests.chunks[1] == hashlib.sha256(data[8:]).hexdigest()


def test_float16_weights_are_not_lossy(tmp_path: Path) -> None:
    values = torch.randn(5, 4, generator=torch.Generator().manual_seed(2)).to(torch.float16)
    assert _source(tmp_path / "w", values).measure()[1] == 0


def test_a_bias_is_widened_exactly(tmp_path: Path) -> None:
    values = torch.randn(9, generator=torch.Generator().manual_seed(3)).to(torch.bfloat16)
    save_file({"b": values}, tmp_path / "w")
    data = as_f32_bytes(index_file(tmp_path / "w")["b"])
    assert data == values.to(torch.float32).numpy().tobytes()
