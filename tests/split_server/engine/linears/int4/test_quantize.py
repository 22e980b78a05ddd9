"""Layers of four bits: near the exact ones, the same alone and in company, never a substitute."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.nn import functional

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.linears.int4 import quantize, soundness, unpacked
from split_server.engine.linears.int4.layer import MANY_ROWS, Int4Linear
from split_server.engine.linears.int4.matrix import Int4Matrix
from split_server.engine.linears.int4.quantize import int4_linear, int4_linears, require_int4
from split_server.engine.linears.int4.soundness import int4_fault
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.errors import UnusableDevice
from split_server.kv.cache import KVCache
from tests import oracle

needs_int4 = pytest.mark.skipif(
    bool(int4_fault(torch.bfloat16)), reason="this machine has no product of four bits"
)


def _linear(rows: int, columns: int, dtype: torch.dtype = torch.float32) -> torch.nn.Linear:
    torch.manual_seed(rows)
    return torch.nn.Linear(columns, rows, dtype=dtype).requires_grad_(requires_grad=False)


def _backbone(path: Path, kept: str, dtype: str = "float32") -> Backbone:
    checkpoint = read_checkpoint(path, "tiny")
    return load_backbone(checkpoint, dtype, "cpu", linears="plain", quantize=kept)


@needs_int4
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 7, MANY_ROWS + 1])
def test_a_layer_is_near_the_exact_one(dtype: torch.dtype, rows: int) -> None:
    exact = _linear(96, 160, dtype)
    x = torch.randn(2, rows, 160).to(dtype)
    found = int4_linear(exact, torch.ones(160))(x)
    assert (found.shape, found.dtype) == ((2, rows, 96), dtype)
    near = functional.cosine_similarity(found.float(), exact(x).float(), dim=-1)
    assert near.min() > 0.98


@needs_int4
def test_a_processor_with_another_order_multiplies_many_rows_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact, x = _linear(96, 160), torch.randn(100, 160)
    expected = int4_linear(exact, None)(x)
    monkeypatch.setattr(unpacked, "known_layout", lambda: 0)
    torch.testing.assert_close(int4_linear(exact, None)(x), expected)


@needs_int4
def test_a_layer_whose_input_has_no_whole_groups_stays_as_it_is() -> None:
    model = torch.nn.Sequential(_linear(64, 32), _linear(48, 64), _linear(8, 48))
    assert int4_linears(model, None) == "int4 (2 of 3)"
    assert [type(layer) for layer in model] == [Int4Linear, Int4Linear, torch.nn.Linear]


def _rounded(path: Path) -> Backbone:
    """The plain middle with the weights that the layers of four bits stand for."""
    backbone, quantized = _backbone(path, "none"), _backbone(path, "int4").module
    layers = dict(quantized.named_modules())
    for name, linear in backbone.module.named_modules():
        if type(linear) is torch.nn.Linear:
            matrix = layers[name]._matrix
            whole = unpacked.unpacked(matrix, unpacked.known_layout(), 0, len(matrix.packed))
            linear.weight.data = whole.T[: matrix.rows].contiguous()
    return backbone


@needs_int4
def test_a_middle_of_four_bits_is_that_of_its_rounded_matrices(family_path: Path) -> None:
    rows = oracle.embeddings(family_path, list(range(3, 40)))
    found, rounded, exact = (
        ModelRunner(backbone).run([Slice(KVCache(), 0, rows.clone())])[0]
        for backbone in (
            _backbone(family_path, "int4"),
            _rounded(family_path),
            _backbone(family_path, "none"),
        )
    )
    torch.testing.assert_close(found, rounded, atol=1e-3, rtol=1e-3)
    # Wide random weights magnify every rounding; what it costs is measured on trained ones.
    assert 0.7 < functional.cosine_similarity(found, exact).mean() < 0.999


@needs_int4
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_decode_step_has_the_same_bits_alone_and_in_company(
    family_path: Path, dtype: str
) -> None:
    backbone = _backbone(family_path, "int4", dtype)
    runner = ModelRunner(backbone)
    rows = oracle.embeddings(family_path, list(range(3, 40))).to(backbone.dtype)
    caches = [KVCache() for _ in range(6)]
    for index, cache in enumerate(caches):
        runner.run([Slice(cache, 0, rows[: 3 + index])])
    last = [rows[index : index + 1] for index in range(len(caches))]
    together = runner.run([Slice(c, c.length, x) for c, x in zip(caches, last, strict=True)])
    for cache, x, expected in zip(caches, last, together, strict=True):
        [alone] = runner.run([Slice(cache, cache.length - 1, x)])
        assert torch.equal(alone, expected)


@needs_int4
def test_info_names_the_dtype_of_the_computation_not_of_the_weights(tiny_path: Path) -> None:
    backbone = _backbone(tiny_path, "int4")
    assert (backbone.linears, backbone.matrices.quantized) == ("int4", "int4")
    assert backbone.info.dtype == "f32"
    assert all(type(m) is not torch.nn.Linear for m in backbone.module.modules())


@needs_int4
def test_the_same_checkpoint_gives_the_same_layers_each_time(tiny_path: Path) -> None:
    rows = oracle.embeddings(tiny_path, list(range(3, 20)))
    first, second = (
        ModelRunner(_backbone(tiny_path, "int4")).run([Slice(KVCache(), 0, rows.clone())])[0]
        for _ in range(2)
    )
    assert torch.equal(first, second)


def test_a_device_without_four_bits_is_refused() -> None:
    with pytest.raises(UnusableDevice, match="meta"):
        require_int4(torch.device("meta"), torch.float32)


@pytest.mark.parametrize("fault", ["missing", "wrong", "company"])
def test_a_processor_without_sound_products_is_refused(
    monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    class _Broken(Int4Matrix):
        def product(self, x: torch.Tensor) -> torch.Tensor:
            if fault == "missing":
                torch.ops.aten._no_such_operator.default  # noqa: B018
            found = super().product(x)
            return found + (1.0 if fault == "wrong" else 1e-6 * (len(x) % 2))

    if fault != "missing" and int4_fault(torch.float32):
        pytest.skip("this machine has no product of four bits")
    monkeypatch.setattr(soundness, "Int4Matrix", _Broken)
    monkeypatch.setattr(quantize, "int4_fault", soundness.int4_fault.__wrapped__)
    with pytest.raises(UnusableDevice, match="--quantize int4"):
        require_int4(torch.device("cpu"), torch.float32)
