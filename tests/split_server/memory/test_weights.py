"""The memory that loading takes, against what tensors have."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.linears.int4.layer import Int4Linear
from split_server.engine.linears.int4.soundness import int4_fault
from split_server.engine.linears.integers.choice import product_fault
from split_server.engine.linears.quantize import QuantizedLinear
from split_server.engine.linears.stacked import StackedProduct
from split_server.engine.model.loader import load_backbone
from split_server.errors import ModelTooLarge
from split_server.memory.limit import MemoryLimit, Room
from split_server.memory.weights import check_weights, weights_need
from tests.checkpoints import tiny_checkpoint
from tests.grouped_files import AWQ, Kind, grouped_checkpoint


@pytest.mark.parametrize(("stored", "item"), [("float32", 4), ("bfloat16", 2), ("bfloat16", 4)])
@pytest.mark.parametrize("tied", [True, False])
def test_what_is_kept_is_the_middle_of_the_loaded_model(
    tmp_path: Path, stored: str, item: int, tied: bool
) -> None:
    checkpoint = read_checkpoint(
        tiny_checkpoint("qwen2", tmp_path / "c", dtype=stored, tied=tied), "c"
    )
    dtype = {4: "float32", 2: "bfloat16"}[item]
    backbone = load_backbone(checkpoint, dtype, "cpu", linears="plain")
    sizes = sum(parameter.numel() * item for parameter in backbone.parameters)
    need = weights_need(checkpoint, item)
    assert need.kept == sizes
    assert need.peak >= need.kept
    assert need.mapped == (checkpoint.path / "model.safetensors").stat().st_size


@pytest.mark.skipif(bool(product_fault()), reason="this machine has no product of bytes")
@pytest.mark.parametrize("family", ["qwen2", "llama", "phi", "starcoder2"])
@pytest.mark.parametrize(("dtype", "item"), [("float32", 4), ("bfloat16", 2)])
def test_int8_layers_hold_what_the_plan_says(
    tmp_path: Path, family: str, dtype: str, item: int
) -> None:
    checkpoint = read_checkpoint(tiny_checkpoint(family, tmp_path / "c", dtype=dtype), "c")
    backbone = load_backbone(checkpoint, dtype, "cpu", quantize="int8")
    layers = [m for m in backbone.module.modules() if isinstance(m, QuantizedLinear)]
    products = {id(layer._product): layer._product for layer in layers}.values()
    held = sum(_held(product) for product in products)
    held += sum(parameter.numel() * item for parameter in backbone.module.parameters())
    need = weights_need(checkpoint, item, "int8")
    # Rows of two small matrices can share a block of the packed form.
    assert held <= need.kept <= 1.2 * held


@pytest.mark.skipif(bool(int4_fault(torch.float32)), reason="no product of four bits here")
@pytest.mark.parametrize("family", ["qwen2", "llama", "phi", "starcoder2"])
@pytest.mark.parametrize(("dtype", "item"), [("float32", 4), ("bfloat16", 2)])
def test_int4_layers_hold_what_the_plan_says(
    tmp_path: Path, family: str, dtype: str, item: int
) -> None:
    checkpoint = read_checkpoint(tiny_checkpoint(family, tmp_path / "c", dtype=dtype), "c")
    backbone = load_backbone(checkpoint, dtype, "cpu", quantize="int4")
    held = _held_int4(backbone.module)
    # A head's bias counts though it stays on the device.
    assert held <= weights_need(checkpoint, item, "int4").kept <= 1.02 * held


@pytest.mark.skipif(bool(int4_fault(torch.float32)), reason="no product of four bits here")
@pytest.mark.parametrize("kind", [AWQ, Kind("gptq", 64, offset=1, shuffled=True)])
def test_matrices_in_groups_hold_what_the_plan_says(
    tiny_path: Path, tmp_path: Path, kind: Kind
) -> None:
    checkpoint = read_checkpoint(grouped_checkpoint(tiny_path, tmp_path / "q", kind), "q")
    for kept in ("none", "int4"):
        backbone = load_backbone(checkpoint, "float32", "cpu", linears="plain", quantize=kept)
        held = _held_int4(backbone.module)
        # The order of a matrix of one group is none.
        assert held <= weights_need(checkpoint, 4, kept).kept <= 1.2 * held


def _held_int4(module: torch.nn.Module) -> int:
    layers = [m for m in module.modules() if isinstance(m, Int4Linear)]
    held = sum(parameter.nbytes for parameter in module.parameters())
    held += sum(one._matrix.packed.nbytes + one._matrix.scales.nbytes for one in layers)
    return held + sum(0 if one._order is None else one._order.nbytes for one in layers)


def _held(product: StackedProduct) -> int:
    matrix = product._product
    tensors = [product._columns, matrix._scales, matrix._zeros]
    tensors += [] if product._bias is None else [product._bias]
    packed: int = torch.ops.mkldnn._nbytes(matrix._packed)
    return packed + sum(tensor.nbytes for tensor in tensors)


def test_a_conversion_holds_the_embedding_table_too(tiny_path: Path) -> None:
    checkpoint = read_checkpoint(tiny_path, "tiny")
    table = checkpoint.tensors["model.embed_tokens.weight"].size
    same, other = weights_need(checkpoint, 4), weights_need(checkpoint, 2)
    assert other.peak - other.kept >= table // 2
    assert same.peak - same.kept < other.peak - other.kept + table


def test_weights_that_do_not_fit_are_refused_with_figures(tiny_path: Path) -> None:
    need = weights_need(read_checkpoint(tiny_path, "tiny"), 4)
    check_weights("tiny", need, MemoryLimit([lambda: Room(need.peak, "cgroup")]))
    with pytest.raises(ModelTooLarge, match=f"{need.peak} bytes and {need.peak - 1} are free"):
        check_weights("tiny", need, MemoryLimit([lambda: Room(need.peak - 1, "cgroup")]))


def test_mapped_files_count_where_untouched_memory_does(tiny_path: Path) -> None:
    need = weights_need(read_checkpoint(tiny_path, "tiny"), 4)
    rooms = [Room(need.peak + 1, "RLIMIT_DATA", counts_untouched=True), Room(1 << 50, "machine")]
    with pytest.raises(ModelTooLarge, match="RLIMIT_DATA"):
        check_weights("tiny", need, MemoryLimit([lambda room=room: room for room in rooms]))
