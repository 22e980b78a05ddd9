"""Matrices of AWQ and GPTQ: what their writers meant, in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from split_server.checkpoint.grouped.matrices import GroupedMatrix, split_tensors
from split_server.checkpoint.grouped.scheme import scheme_of
from split_server.checkpoint.safetensors_index import index_file
from split_server.engine.linears.int4.layer import MANY_ROWS
from split_server.engine.linears.int4.soundness import int4_fault
from split_server.engine.linears.int4.stored import fits_kernel, int4_stored, plain_stored
from split_server.errors import MalformedCheckpoint
from tests.grouped_files import AWQ, GPTQ, Kind, quantized

needs_int4 = pytest.mark.skipif(
    bool(int4_fault(torch.bfloat16)), reason="this machine has no product of four bits"
)
KINDS = [
    AWQ,
    GPTQ,
    Kind("awq", 128),
    Kind("awq", -1),
    Kind("gptq", 64, offset=1, shuffled=True),
    Kind("gptq", 128, offset=1, symmetric=True),
    Kind("gptq", 32, offset=0, shuffled=True),
    Kind("gptq", 32, offset=0),
    Kind("gptq", -1, offset=1),
]
_NAMES = [f"{k.method} {k.group} -{k.offset} {k.shuffled} {k.symmetric}" for k in KINDS]


def _matrix(path: Path, kind: Kind, **changed: torch.Tensor) -> tuple[GroupedMatrix, torch.Tensor]:
    rng = np.random.default_rng(1)
    parts, exact = quantized(rng.normal(size=(48, 256)), kind, rng)
    tensors = {f"a.{name}": torch.from_numpy(part) for name, part in parts.items()}
    save_file(tensors | {f"a.{name}": part for name, part in changed.items()}, path / "m")
    scheme = scheme_of({"quantization_config": kind.fields()})
    assert scheme is not None
    _, matrices = split_tensors(scheme, index_file(path / "m", words=True))
    return matrices["a"], torch.from_numpy(exact)


@pytest.mark.parametrize("kind", KINDS, ids=_NAMES)
def test_plain_weights_are_those_that_were_meant(tmp_path: Path, kind: Kind) -> None:
    matrix, exact = _matrix(tmp_path, kind)
    assert torch.equal(plain_stored(matrix, torch.float32), exact.float())


@needs_int4
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [3, MANY_ROWS + 6])
@pytest.mark.parametrize("kind", KINDS, ids=_NAMES)
def test_layers_multiply_by_what_was_meant(
    tmp_path: Path, kind: Kind, rows: int, dtype: torch.dtype
) -> None:
    matrix, exact = _matrix(tmp_path, kind)
    assert fits_kernel(matrix)
    torch.manual_seed(0)
    bias = torch.nn.Parameter(torch.randn(48).to(dtype))
    x = torch.randn(1, rows, 256).to(dtype)
    found = int4_stored(matrix, bias, dtype)(x)[0].double()
    expected = x[0].double() @ exact.T + bias.double()
    norms = torch.outer(x[0].double().norm(dim=1), exact.norm(dim=1))
    # Scales and zero points are rounded to the dtype, and so is the result.
    bound = torch.finfo(dtype).eps * (2 * norms + expected.abs()) + 1e-6 * norms
    assert ((found - expected).abs() <= bound).all()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_scales_that_are_not_finite_are_refused(tmp_path: Path, bad: float) -> None:
    scales = torch.ones(8, 48, dtype=torch.float16)
    scales[3, 7] = bad
    matrix, _ = _matrix(tmp_path, AWQ, scales=scales)
    with pytest.raises(MalformedCheckpoint, match="not finite"):
        plain_stored(matrix, torch.float32)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([0] * 255 + [8], "do not exist"),
        ([-1] + [0] * 255, "do not exist"),
        ([0] * 256, "other than 32"),
        ([*sorted(list(range(8)) * 32)[:-1], 0], "other than 32"),
    ],
)
def test_an_order_that_cannot_be_is_refused(tmp_path: Path, groups: list[int], words: str) -> None:
    matrix, _ = _matrix(tmp_path, GPTQ, g_idx=torch.tensor(groups, dtype=torch.int32))
    with pytest.raises(MalformedCheckpoint, match=words):
        plain_stored(matrix, torch.float32)


def test_a_file_that_is_cut_after_it_was_indexed_is_refused(tmp_path: Path) -> None:
    matrix, _ = _matrix(tmp_path, AWQ)
    (tmp_path / "m").write_bytes((tmp_path / "m").read_bytes()[:-200])
    with pytest.raises(MalformedCheckpoint, match="cut short"):
        plain_stored(matrix, torch.float32)
