"""Layers with one input are one product, handed out in parts or whole."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from split_server.engine.linears.choice import arrange_linears
from split_server.engine.linears.integers.choice import product_fault
from split_server.engine.linears.prepacked import PackedPart, packing_fault
from split_server.engine.linears.quantize import quantized
from split_server.engine.linears.shared import factored_product, merged, one_product

SIZES = (48, 16, 24)
needs_packing = pytest.mark.skipif(
    bool(packing_fault(torch.nn.Linear(64, 48))), reason="this machine cannot pack"
)
needs_int8 = pytest.mark.skipif(
    bool(product_fault()), reason="this machine has no product of bytes"
)


def _linears(biases: tuple[bool, ...] = (True, False, True)) -> list[torch.nn.Linear]:
    torch.manual_seed(0)
    return [
        torch.nn.Linear(64, size, bias).requires_grad_(requires_grad=False)
        for size, bias in zip(SIZES, biases, strict=True)
    ]


class _Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = _linears()

    @property
    def layers(self) -> list[torch.nn.Module]:
        return [self.q_proj, self.k_proj, self.v_proj]


@pytest.mark.parametrize("biases", [(True, False, True), (False, False, False)])
def test_a_merged_layer_gives_the_results_of_all_one_after_the_other(
    biases: tuple[bool, ...],
) -> None:
    linears, x = _linears(biases), torch.randn(1, 5, 64)
    wanted = [linear(x) for linear in linears]
    whole = merged(linears)
    torch.testing.assert_close(whole(x), torch.cat(wanted, dim=-1))
    for linear, before in zip(linears, wanted, strict=True):
        torch.testing.assert_close(linear(x), before)
        storage = linear.weight.untyped_storage().data_ptr()
        assert storage == whole.weight.untyped_storage().data_ptr()


@needs_packing
def test_packed_layers_with_one_input_share_a_product() -> None:
    block, x = _Block(), torch.randn(1, 5, 64)
    wanted = [layer(x) for layer in block.layers]
    assert arrange_linears(block, "packed", merge=True) == "packed float32"
    assert {type(layer) for layer in block.layers} == {PackedPart}
    found = [layer(x) for layer in block.layers]
    for own, before in zip(found, wanted, strict=True):
        torch.testing.assert_close(own, before)
    assert torch.equal(one_product(block.layers)(x), torch.cat(found, dim=-1))


@needs_packing
def test_layers_that_are_not_the_whole_product_in_order_are_multiplied_one_by_one() -> None:
    block, x = _Block(), torch.randn(1, 5, 64)
    arrange_linears(block, "packed", merge=True)
    for chosen in ([block.k_proj, block.q_proj, block.v_proj], [block.q_proj, block.k_proj]):
        found = one_product(chosen)(x)
        assert torch.equal(found, torch.cat([layer(x) for layer in chosen], dim=-1))


def test_a_single_layer_is_its_own_product() -> None:
    [linear] = _linears()[:1]
    x = torch.randn(1, 2, 64)
    assert torch.equal(one_product([linear])(x), functional.linear(x, linear.weight, linear.bias))
    assert factored_product([linear])[1] is None


@needs_int8
def test_factors_may_be_applied_beforehand() -> None:
    layers, x = quantized(_linears()), torch.randn(1, 5, 64)
    product, factors = factored_product(layers)
    assert factors is not None
    assert torch.equal(product(x * factors), one_product(layers)(x))


@needs_int8
def test_a_product_of_whole_numbers_is_float32_until_a_layer_rounds_it() -> None:
    layers, x = quantized(_linears()), torch.randn(1, 5, 64).bfloat16()
    whole = one_product(layers)(x)
    assert whole.dtype is torch.float32
    assert torch.equal(whole.bfloat16(), torch.cat([layer(x) for layer in layers], dim=-1))
