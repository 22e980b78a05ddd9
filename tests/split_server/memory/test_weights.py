"""The memory that loading takes, against what tensors have."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.errors import ModelTooLarge
from split_server.memory.limit import MemoryLimit, Room
from split_server.memory.weights import check_weights, weights_need
from tests.checkpoints import tiny_checkpoint


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
