"""Middles of which layers are on disk: the same bits as those of plain matrices in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.linears.integers.raw import raw_fault
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.streaming import LayersOnDisk, layer_file
from split_server.engine.streamed.errors import LayerUnreadable
from split_server.errors import MalformedCheckpoint
from split_server.kv.cache import KVCache
from tests.checkpoints import ALL_FAMILIES, tiny_checkpoint

# Prefill, tokens, a draft whose last rows are taken back, a token.
_STEPS = ((0, 20), (20, 1), (21, 1), (22, 8), (25, 1))


def _loaded(
    path: Path,
    dtype: str,
    folder: Path | None,
    numbers: tuple[int, ...],
    quantize: str = "none",
) -> Backbone:
    checkpoint, on_disk = read_checkpoint(path, "tiny"), None
    if folder is not None:
        kind = getattr(torch, dtype)
        file = layer_file(checkpoint, kind, folder, f"digest of {path}", quantize=quantize)
        on_disk = LayersOnDisk(numbers, file)
    return load_backbone(
        checkpoint, dtype, "cpu", linears="plain", quantize=quantize, on_disk=on_disk
    )


def _states(backbone: Backbone) -> list[torch.Tensor]:
    """Of two sessions at once."""
    torch.manual_seed(0)
    rows = torch.randn(2, 40, backbone.info.hidden_size).to(backbone.dtype)
    runner, caches = ModelRunner(backbone), (KVCache(), KVCache())
    found = []
    for start, count in _STEPS:
        slices = [
            Slice(cache, start, own[start : start + count])
            for cache, own in zip(caches, rows, strict=True)
        ]
        found += runner.run(slices)
    return found


@pytest.mark.parametrize("family", ALL_FAMILIES)
@pytest.mark.parametrize(
    ("dtype", "quantize"), [("float32", "none"), ("bfloat16", "none"), ("bfloat16", "int8")]
)
def test_states_have_the_bits_of_the_same_matrices_in_memory(
    tmp_path: Path, family: str, dtype: str, quantize: str
) -> None:
    path = tiny_checkpoint(family, tmp_path / family)
    if quantize == "int8" and raw_fault():
        pytest.skip(raw_fault())
    plain = _states(_loaded(path, dtype, None, (), quantize))
    for numbers in ((0, 1, 2), (1,)):
        backbone = _loaded(path, dtype, tmp_path / "layers", numbers, quantize)
        assert backbone.stream is not None
        assert backbone.stream.numbers == numbers
        assert all(map(torch.equal, _states(backbone), plain))
        backbone.stream.close()


def test_layers_that_are_on_disk_are_not_in_memory(tiny_path: Path, tmp_path: Path) -> None:
    whole = _loaded(tiny_path, "float32", None, ())
    backbone = _loaded(tiny_path, "float32", tmp_path, (0, 2))
    modules: list[Any] = [whole.module, backbone.module]
    sizes = [sum(p.numel() for p in one.parameters()) for one in modules]
    layer = sum(p.numel() for p in modules[0].layers[0].parameters())
    assert sizes[0] - sizes[1] == 2 * layer
    assert backbone.info.streamed == 2
    assert backbone.info.interactive_rows == 32


def _some_passes(runner: ModelRunner, cache: KVCache, rows: torch.Tensor) -> None:
    """More than layers can be read ahead for, each over ``rows`` behind five positions."""
    for _ in range(3):
        runner.run([Slice(cache, 5, rows)])
        cache.truncate(5)


def test_a_layer_that_cannot_be_read_fails_its_pass_and_leaves_the_cache(
    tiny_path: Path, tmp_path: Path
) -> None:
    backbone = _loaded(tiny_path, "float32", tmp_path, (0, 1, 2))
    assert backbone.stream is not None
    [path] = tmp_path.glob("*.layers")
    runner, cache = ModelRunner(backbone), KVCache()
    rows = torch.ones(5, backbone.info.hidden_size)
    runner.run([Slice(cache, 0, rows)])
    path.write_bytes(b"")
    with pytest.raises(LayerUnreadable, match="cut short") as raised:
        _some_passes(runner, cache, rows)
    assert raised.value.code == "internal_error"
    assert cache.length == 5
    backbone.stream.close()


@pytest.mark.parametrize("lacking", ["layers.1.mlp.up_proj", "layers.1."])
def test_a_checkpoint_without_all_of_its_layers_is_refused(
    tiny_path: Path, tmp_path: Path, lacking: str
) -> None:
    checkpoint = read_checkpoint(tiny_path, "tiny")
    tensors = {name: one for name, one in checkpoint.tensors.items() if lacking not in name}
    object.__setattr__(checkpoint, "tensors", tensors)
    with pytest.raises(MalformedCheckpoint, match=r"lacks"):
        load_backbone(
            checkpoint,
            "float32",
            "cpu",
            on_disk=LayersOnDisk((1,), layer_file(checkpoint, torch.float32, tmp_path, "a digest")),
        )
