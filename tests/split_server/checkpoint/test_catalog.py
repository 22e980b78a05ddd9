"""The files that are served, byte for byte those of the checkpoint."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from split_server.checkpoint.catalog import build_catalog, ends_of
from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.manifest import build_manifest
from split_server.errors import MalformedCheckpoint
from split_wire.errors import NotFound
from tests import oracle
from tests.checkpoints import tiny_checkpoint


def _catalog(path: Path):
    return build_catalog(read_checkpoint(path, "tiny"))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_rows_are_served_in_the_checkpoints_own_dtype(dtype: str, tmp_path: Path) -> None:
    path = tiny_checkpoint("llama", tmp_path / "c", tied=False, dtype=dtype)
    tensors = load_file(path / "model.safetensors")
    catalog = _catalog(path)
    for name, tensor in (("embedding", "model.embed_tokens.weight"), ("head", "lm_head.weight")):
        stored = tensors[tensor].contiguous().view(torch.uint8).numpy().tobytes()
        assert catalog.read(f"{name}.bin") == stored


def test_a_tied_checkpoint_has_one_table_and_two_legacy_files(tmp_path: Path) -> None:
    catalog = _catalog(tiny_checkpoint("qwen2", tmp_path / "c", tied=True))
    assert sorted(catalog.files) == ["chat_template.jinja", "embedding.bin", "tokenizer.json"]
    assert catalog.read("lm_head.bin") == catalog.read("embed_tokens.bin")


def _with_a_head_in_its_files(path: Path, change: float) -> Path:
    tensors = load_file(path / "model.safetensors")
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
    tensors["lm_head.weight"][-1, -1] += change
    save_file(tensors, path / "model.safetensors", {"format": "pt"})
    return path


def test_a_tied_head_that_is_stored_with_other_values_is_served_as_transformers_loads_it(
    tmp_path: Path,
) -> None:
    path = _with_a_head_in_its_files(tiny_checkpoint("gemma", tmp_path / "c"), change=1.0)
    loaded = oracle.model(path).get_output_embeddings().weight.detach()
    assert _catalog(path).read("head.bin") == loaded.numpy().tobytes()


def test_a_tied_head_that_is_stored_twice_is_served_once(tmp_path: Path) -> None:
    path = _with_a_head_in_its_files(tiny_checkpoint("gemma", tmp_path / "c"), change=0.0)
    assert "head.bin" not in _catalog(path).files


def test_a_bias_of_another_length_than_the_head_is_refused(tmp_path: Path) -> None:
    path = tiny_checkpoint("phi", tmp_path / "c")
    tensors = load_file(path / "model.safetensors")
    tensors["lm_head.bias"] = tensors["lm_head.bias"][:-1].clone()
    save_file(tensors, path / "model.safetensors", {"format": "pt"})
    with pytest.raises(MalformedCheckpoint, match=r"lm_head\.bias"):
        ends_of(read_checkpoint(path, "tiny"))


def test_legacy_files_are_measured_once(tmp_path: Path) -> None:
    catalog = _catalog(tiny_checkpoint("qwen2", tmp_path / "c"))
    assert not catalog.holds("lm_head.bin")
    assert catalog.find("lm_head.bin") is catalog.find("lm_head.bin")
    assert catalog.holds("lm_head.bin")


def _with_blocks(path: Path, file: str, count: int) -> Path:
    (path / file).write_bytes(bytes(count))
    return path


def test_blocks_beside_the_rows_are_another_form_of_a_file_and_change_no_manifest(
    tmp_path: Path,
) -> None:
    path = tiny_checkpoint("llama", tmp_path / "c", tied=False, dtype="bfloat16")
    plain = _catalog(path)
    assert not plain.packed
    for file in ("embedding.bin", "head.bin"):
        _with_blocks(path, f"{file}.q8_0", plain.files[file].source.size // 64 * 34)
    packed = _catalog(path)
    assert sorted(packed.packed) == ["embedding.bin.q8_0", "head.bin.q8_0"]
    assert packed.holds("head.bin.q8_0")
    assert packed.read("head.bin.q8_0") == (path / "head.bin.q8_0").read_bytes()
    checkpoint = read_checkpoint(path, "tiny")
    assert build_manifest(checkpoint, packed) == build_manifest(checkpoint, plain)


@pytest.mark.parametrize(("dtype", "spare"), [("float32", 0), ("bfloat16", 34), ("bfloat16", -1)])
def test_blocks_that_do_not_fit_the_rows_are_not_served(
    dtype: str, spare: int, tmp_path: Path
) -> None:
    path = tiny_checkpoint("llama", tmp_path / "c", dtype=dtype)
    values = ends_of(read_checkpoint(path, "tiny")).embedding.shape
    _with_blocks(path, "embedding.bin.q8_0", values[0] * values[1] // 32 * 34 + spare)
    assert not _catalog(path).packed


def test_blocks_of_a_head_are_not_served_where_it_is_the_embedding(tmp_path: Path) -> None:
    path = tiny_checkpoint("llama", tmp_path / "c", tied=True, dtype="bfloat16")
    size = _catalog(path).files["embedding.bin"].source.size
    assert not _catalog(_with_blocks(path, "head.bin.q8_0", size // 64 * 34)).packed


def test_a_pipe_in_place_of_blocks_holds_nobody(tmp_path: Path) -> None:
    path = tiny_checkpoint("llama", tmp_path / "c", dtype="bfloat16")
    os.mkfifo(path / "embedding.bin.q8_0")
    assert not _catalog(path).packed


@pytest.mark.parametrize("name", ["", "..", "../config.json", "config.json", "model.safetensors"])
def test_nothing_but_the_catalog_is_served(name: str, tmp_path: Path) -> None:
    catalog = _catalog(tiny_checkpoint("qwen2", tmp_path / "c"))
    with pytest.raises(NotFound):
        catalog.find(name)


def test_an_end_of_another_width_is_refused(tmp_path: Path) -> None:
    checkpoint = read_checkpoint(tiny_checkpoint("qwen2", tmp_path / "c"), "tiny")
    checkpoint.config["hidden_size"] = 65  # type: ignore[index]
    with pytest.raises(MalformedCheckpoint, match=r"not \[rows, 65\]"):
        ends_of(checkpoint)
