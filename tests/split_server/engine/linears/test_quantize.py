"""int8 layers: near the exact product, row by row, and never a silent substitute."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.nn import functional

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.linears import quantize
from split_server.engine.linears.quantize import QuantizedLinear, quantize_linears
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.errors import UnusableDevice
from split_server.kv.cache import KVCache
from tests import oracle

needs_int8 = pytest.mark.skipif(
    bool(quantize._fault()), reason="this machine has no product of bytes"
)


def _weight(rows: int, columns: int) -> torch.Tensor:
    torch.manual_seed(rows)
    return torch.randn(rows, columns) * torch.rand(rows, 1)


def _rounded(matrix: torch.Tensor) -> torch.Tensor:
    """Each row to 255 steps, as int8 has them, in float64."""
    scale = matrix.double().abs().amax(dim=1, keepdim=True) / 127
    return torch.where(scale > 0, (matrix.double() / scale).round() * scale, 0.0)


@needs_int8
@pytest.mark.parametrize("rows", [1, 3, 17, 128])
@pytest.mark.parametrize("bias", [True, False])
def test_the_product_is_that_of_the_rounded_matrices(rows: int, bias: bool) -> None:
    weight, x = _weight(96, 160), torch.randn(1, rows, 160)
    added = torch.randn(96) if bias else None
    expected = _rounded(x[0]) @ _rounded(weight).T + (added.double() if bias else 0.0)
    found = QuantizedLinear(weight, added)(x)
    assert found.shape == (1, rows, 96)
    # A value half-way between two steps may be rounded either way: one step of one input.
    step = (x[0].abs().amax(dim=1)[:, None] * weight.abs().amax(dim=1) / 127).double()
    assert ((found[0] - expected).abs() <= step + 1e-4).all()
    assert ((found[0] - expected).abs() < 1e-4).double().mean() > 0.9


@needs_int8
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_result_has_the_dtype_of_the_input(dtype: torch.dtype) -> None:
    linear = QuantizedLinear(_weight(48, 64).to(dtype), torch.randn(48).to(dtype))
    assert linear(torch.randn(1, 2, 64).to(dtype)).dtype is dtype


@needs_int8
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("rows", "columns"), [(96, 160), (896, 64), (24, 1000)])
def test_a_row_does_not_depend_on_the_rows_beside_it(
    dtype: torch.dtype, rows: int, columns: int
) -> None:
    linear = QuantizedLinear(_weight(rows, columns).to(dtype), torch.randn(rows))
    x = (torch.randn(130, columns) * torch.logspace(-3, 3, 130)[:, None]).to(dtype)
    alone = torch.cat([linear(x[None, i : i + 1])[0] for i in range(130)])
    for first, last in ((0, 130), (3, 20), (60, 64)):
        assert torch.equal(linear(x[None, first:last])[0], alone[first:last])


@needs_int8
def test_zeros_give_the_bias() -> None:
    weight = _weight(48, 64)
    weight[5] = 0.0
    bias = torch.randn(48)
    assert torch.equal(QuantizedLinear(weight, bias)(torch.zeros(2, 64)), bias.expand(2, 48))
    assert QuantizedLinear(weight, bias)(torch.ones(1, 64))[0, 5] == bias[5]


@needs_int8
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_row_that_is_not_finite_stays_so_and_alone(bad: float) -> None:
    linear = QuantizedLinear(_weight(48, 64))
    x = torch.randn(3, 64)
    good = linear(x)
    x[1, 7] = bad
    found = linear(x)
    assert not found[1].isfinite().any()
    assert torch.equal(found[::2], good[::2])


def _hidden(path: Path, rows: torch.Tensor, kept: str) -> torch.Tensor:
    checkpoint = read_checkpoint(path, "tiny")
    backbone = load_backbone(checkpoint, "float32", "cpu", linears="plain", quantize=kept)
    [hidden] = ModelRunner(backbone).run([Slice(KVCache(), 0, rows.clone())])
    return hidden


@needs_int8
def test_a_quantized_middle_stays_close_to_the_exact_one(family_path: Path) -> None:
    ids = list(range(3, 40))
    rows = oracle.embeddings(family_path, ids)
    found = _hidden(family_path, rows, "int8")
    exact = _hidden(family_path, rows, "none")
    near = functional.cosine_similarity(found, exact)
    assert near.mean() > 0.99
    assert near.min() > 0.9
    assert not torch.equal(found, exact)


@needs_int8
def test_info_names_the_dtype_of_the_computation_not_of_the_weights(tiny_path: Path) -> None:
    backbone = load_backbone(read_checkpoint(tiny_path, "tiny"), "float32", "cpu", quantize="int8")
    assert (backbone.linears, backbone.info.dtype) == ("int8", "f32")
    assert all(type(m) is not torch.nn.Linear for m in backbone.module.modules())


def test_a_device_without_int8_is_refused() -> None:
    with pytest.raises(UnusableDevice, match="meta"):
        quantize_linears(torch.nn.Sequential(torch.nn.Linear(8, 8)).to("meta"))


@pytest.mark.parametrize("product", ["missing", "saturating"])
def test_a_processor_without_exact_products_is_refused(
    monkeypatch: pytest.MonkeyPatch, product: str
) -> None:
    class _Broken:
        def __init__(self, weight: torch.Tensor, scales: torch.Tensor) -> None:
            if product == "missing":
                torch.ops.onednn._no_such_operator.default  # noqa: B018
            self._weight = weight.long()

        def __call__(self, rows: torch.Tensor) -> torch.Tensor:
            """Pairs of products are added in 16 bits."""
            single = rows.long()[..., None, :] * self._weight
            pairs = (single[..., ::2] + single[..., 1::2]).clamp(-(1 << 15), (1 << 15) - 1)
            return (pairs.sum(-1) - 128 * self._weight.sum(-1)).float()

    monkeypatch.setattr(quantize, "_IntegerProduct", _Broken)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8))
    with pytest.raises(UnusableDevice, match="--quantize int8"):
        quantize_linears(model)
    assert type(model[0]) is torch.nn.Linear
