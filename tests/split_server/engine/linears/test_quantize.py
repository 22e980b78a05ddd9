"""int8 layers: near the exact product, row by row, and never a silent substitute."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.nn import functional

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.linears import quantize
from split_server.engine.linears.integers.choice import product_fault
from split_server.engine.linears.quantize import QuantizedLinear, quantize_linears, quantized
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.errors import UnusableDevice
from split_server.kv.cache import KVCache
from tests import oracle

needs_int8 = pytest.mark.skipif(
    bool(product_fault()), reason="this machine has no product of bytes"
)


def _weight(rows: int, columns: int) -> torch.Tensor:
    torch.manual_seed(rows)
    return torch.randn(rows, columns) * torch.rand(rows, 1)


def _linear(weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.nn.Linear:
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias is not None, dtype=weight.dtype)
    linear.weight.data = weight
    if bias is not None:
        linear.bias.data = bias
    return linear.requires_grad_(requires_grad=False)


def _quantized(weight: torch.Tensor, bias: torch.Tensor | None = None) -> QuantizedLinear:
    [layer] = quantized([_linear(weight, bias)])
    return layer


def _whole(weight: torch.Tensor) -> torch.Tensor:
    """The matrix with 255 steps for each row of scaled columns, in float64."""
    columns = weight.double().square().mean(dim=0).pow(0.25)
    scaled = weight.double() / columns
    steps = scaled.abs().amax(dim=1, keepdim=True) / 127
    return (scaled / steps).round() * steps * columns


@needs_int8
@pytest.mark.parametrize("rows", [1, 3, 17, 128])
@pytest.mark.parametrize("bias", [True, False])
def test_the_product_is_that_of_the_rounded_matrix(rows: int, bias: bool) -> None:
    weight, x = _weight(96, 160), torch.randn(1, rows, 160)
    added = torch.randn(96) if bias else None
    expected = x[0].double() @ _whole(weight).T + (added.double() if bias else 0.0)
    found = _quantized(weight, added)(x)
    assert found.shape == (1, rows, 96)
    # 16 bits of each input: half a step, 1 / 64,516 of the largest, in every product.
    bound = x[0].abs().amax(dim=1)[:, None] * weight.abs().sum(dim=1)
    assert ((found[0] - expected).abs() <= 2e-5 * bound).all()


@needs_int8
def test_columns_of_large_weights_cost_the_others_few_digits() -> None:
    torch.manual_seed(1)
    weight = torch.randn(96, 320)
    weight[:, ::40] *= 50
    x = torch.randn(64, 320)
    exact = x.double() @ weight.double().T
    steps = weight.abs().amax(dim=1, keepdim=True) / 127
    whole_rows = x.double() @ ((weight / steps).round() * steps).double().T
    error = (_quantized(weight)(x) - exact).norm()
    assert error < (whole_rows - exact).norm() / 3


@needs_int8
def test_large_inputs_cost_the_others_no_digits() -> None:
    torch.manual_seed(2)
    weight, x = torch.randn(96, 320), torch.randn(64, 320)
    x[:, 7] *= 200
    # What the large input adds is left out: an error of it would hide those of the others.
    weight[:, 7] = 0.01 * torch.randn(96)
    exact = x.double() @ weight.double().T
    steps = x.abs().amax(dim=1, keepdim=True) / 127
    one_byte = ((x / steps).round() * steps).double() @ weight.double().T
    assert (_quantized(weight)(x) - exact).norm() < (one_byte - exact).norm() / 10


@needs_int8
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_result_has_the_dtype_of_the_input(dtype: torch.dtype) -> None:
    linear = _quantized(_weight(48, 64).to(dtype), torch.randn(48).to(dtype))
    assert linear(torch.randn(1, 2, 64).to(dtype)).dtype is dtype


@needs_int8
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("rows", "columns"), [(96, 160), (896, 64), (24, 1000)])
def test_a_row_does_not_depend_on_the_rows_beside_it(
    dtype: torch.dtype, rows: int, columns: int
) -> None:
    linear = _quantized(_weight(rows, columns).to(dtype), torch.randn(rows))
    x = (torch.randn(130, columns) * torch.logspace(-3, 3, 130)[:, None]).to(dtype)
    alone = torch.cat([linear(x[None, i : i + 1])[0] for i in range(130)])
    for first, last in ((0, 130), (3, 20), (60, 64)):
        assert torch.equal(linear(x[None, first:last])[0], alone[first:last])


@needs_int8
def test_zeros_give_the_bias() -> None:
    weight = _weight(48, 64)
    weight[5] = 0.0
    bias = torch.randn(48)
    linear = _quantized(weight, bias)
    assert torch.equal(linear(torch.zeros(2, 64)), bias.expand(2, 48))
    assert linear(torch.ones(1, 64))[0, 5] == bias[5]


@needs_int8
def test_a_column_of_zeros_costs_nothing_and_adds_nothing() -> None:
    weight, x = _weight(48, 64), torch.randn(2, 64)
    weight[:, 3] = 0.0
    without = _quantized(weight)(x)
    x[:, 3] = 1e6
    assert torch.equal(_quantized(weight)(x), without)


@needs_int8
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_row_that_is_not_finite_stays_so_and_alone(bad: float) -> None:
    linear = _quantized(_weight(48, 64))
    x = torch.randn(3, 64)
    good = linear(x)
    x[1, 7] = bad
    found = linear(x)
    assert not found[1].isfinite().any()
    assert torch.equal(found[::2], good[::2])


@needs_int8
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_layers_with_one_input_give_what_the_stacked_matrix_gives(dtype: torch.dtype) -> None:
    weights = [_weight(rows, 64).to(dtype) for rows in (48, 16, 24)]
    biases = [torch.randn(48).to(dtype), None, torch.randn(24).to(dtype)]
    layers = quantized([_linear(w, b) for w, b in zip(weights, biases, strict=True)])
    stacked = torch.cat([torch.zeros(16, dtype=dtype) if b is None else b for b in biases])
    alone = _quantized(torch.cat(weights), stacked)
    for rows in (1, 5):
        x = torch.randn(1, rows, 64).to(dtype)
        found = torch.cat([layer(x) for layer in layers], dim=-1)
        assert torch.equal(found, alone(x))


@needs_int8
def test_a_layer_that_gets_another_input_multiplies_that() -> None:
    first, second = quantized([_linear(_weight(48, 64)), _linear(_weight(16, 64))])
    x, y = torch.randn(2, 64), torch.randn(2, 64)
    of_x = second(x).clone()
    of_y = second(y).clone()
    assert not torch.equal(of_x, of_y)
    first(x)
    assert torch.equal(second(y), of_y)
    first(y)
    assert torch.equal(second(x), of_x)
    assert torch.equal(second(x), of_x)


@needs_int8
def test_an_input_that_changes_between_two_steps_is_multiplied_again() -> None:
    first, second = quantized([_linear(_weight(48, 64)), _linear(_weight(16, 64))])
    x = torch.randn(2, 64)
    before = first(x).clone(), second(x).clone()
    x.mul_(2.0)
    assert torch.equal(first(x), 2 * before[0])
    assert torch.equal(second(x), 2 * before[1])


@needs_int8
def test_a_product_is_dropped_when_every_layer_has_had_its_part() -> None:
    layers = quantized([_linear(_weight(48, 64)), _linear(_weight(16, 64))])
    x = torch.randn(2, 64)
    for layer in layers:
        layer(x)
    assert layers[0]._product._found is None


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
            single = (rows.long() + 128)[..., None, :] * self._weight
            pairs = (single[..., ::2] + single[..., 1::2]).clamp(-(1 << 15), (1 << 15) - 1)
            return (pairs.sum(-1) - 128 * self._weight.sum(-1)).float()

        @staticmethod
        def held_bytes(rows: int, columns: int) -> int:
            return rows * columns

    monkeypatch.setattr(quantize, "product_fault", lambda: product_fault(_Broken))
    model = torch.nn.Sequential(torch.nn.Linear(8, 8))
    with pytest.raises(UnusableDevice, match="--quantize int8"):
        quantize_linears(model)
    assert type(model[0]) is torch.nn.Linear
