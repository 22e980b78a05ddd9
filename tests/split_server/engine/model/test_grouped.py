"""Whole models of AWQ and GPTQ: the middle that their plain weights give, kept in every way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

from split_server.checkpoint.catalog import build_catalog
from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.manifest import build_manifest
from split_server.engine.linears.int4.layer import Int4Linear
from split_server.engine.linears.int4.soundness import int4_fault
from split_server.engine.linears.integers.choice import product_fault
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.errors import MalformedCheckpoint
from split_server.kv.cache import KVCache
from tests import oracle
from tests.checkpoints import tiny_checkpoint
from tests.grouped_files import AWQ, GPTQ, Kind, grouped_checkpoint

needs_int4 = pytest.mark.skipif(
    bool(int4_fault(torch.float32)), reason="this machine has no product of four bits"
)
_IDS = list(range(3, 40))
_KINDS = [AWQ, Kind("gptq", 64, offset=1, shuffled=True)]


def _hidden(path: Path, rows: torch.Tensor, kept: str) -> torch.Tensor:
    backbone = load_backbone(read_checkpoint(path, "q"), "float32", "cpu", quantize=kept)
    [hidden] = ModelRunner(backbone).run([Slice(KVCache(), 0, rows.clone())])
    return hidden


@pytest.mark.parametrize("family", ["llama", "qwen2", "gemma", "phi3"])
@pytest.mark.parametrize("kind", _KINDS, ids=["awq", "gptq"])
@needs_int4
def test_hidden_states_are_those_of_the_plain_weights(
    tmp_path: Path, family: str, kind: Kind
) -> None:
    source = tiny_checkpoint(family, tmp_path / "source")
    path = grouped_checkpoint(source, tmp_path / "q", kind, dense=tmp_path / "dense")
    rows = oracle.embeddings(tmp_path / "dense", _IDS)
    with torch.inference_mode():
        exact = oracle.model(tmp_path / "dense").model(torch.tensor([_IDS])).last_hidden_state
    for kept in ("none", "int4"):
        torch.testing.assert_close(_hidden(path, rows, kept), exact[0], atol=2e-4, rtol=1e-3)


@pytest.mark.skipif(bool(product_fault()), reason="this machine has no product of bytes")
def test_int8_is_made_of_the_plain_weights(tiny_path: Path, tmp_path: Path) -> None:
    path = grouped_checkpoint(tiny_path, tmp_path / "q", GPTQ, dense=tmp_path / "dense")
    rows = oracle.embeddings(tiny_path, _IDS)
    found, expected = (_hidden(one, rows, "int8") for one in (path, tmp_path / "dense"))
    assert functional.cosine_similarity(found, expected).min() > 0.9999


@needs_int4
def test_int4_keeps_the_matrices_of_the_checkpoint(tiny_path: Path, tmp_path: Path) -> None:
    path = grouped_checkpoint(tiny_path, tmp_path / "q", AWQ)
    backbone = load_backbone(read_checkpoint(path, "q"), "float32", "cpu", quantize="int4")
    layers = [type(m) for m in backbone.module.modules()]
    assert (layers.count(Int4Linear), layers.count(torch.nn.Linear)) == (21, 0)
    assert backbone.linears == "int4 (21 of 21, as in the checkpoint)"


def test_devices_get_the_plain_ends(tiny_path: Path, tmp_path: Path) -> None:
    plain = read_checkpoint(tiny_path, "a")
    checkpoint = read_checkpoint(grouped_checkpoint(tiny_path, tmp_path / "q", AWQ), "a")
    ours, theirs = build_catalog(checkpoint), build_catalog(plain)
    assert ours.files["embedding.bin"].digests == theirs.files["embedding.bin"].digests
    assert build_manifest(checkpoint, ours).digest != build_manifest(plain, theirs).digest


def _changed(path: Path, target: Path, name: str, tensor: torch.Tensor | None) -> Path:
    target.mkdir()
    tensors = load_file(path / "model.safetensors")
    tensors.pop(name, None)
    if tensor is not None:
        tensors[name] = tensor
    (target / "config.json").write_text((path / "config.json").read_text())
    save_file(tensors, target / "model.safetensors")
    return target


_Q = "model.layers.0.self_attn.q_proj"


@pytest.mark.parametrize(
    ("name", "tensor", "words"),
    [
        ("model.norm.weight", None, "lacks norm.weight"),
        ("model.norm.weight", torch.ones(8), "another shape|cannot be loaded"),
        (f"{_Q}.bias", torch.ones(64), "a bias, which its family has not"),
    ],
)
def test_what_the_family_does_not_have_is_refused(
    tmp_path: Path, name: str, tensor: torch.Tensor | None, words: str
) -> None:
    source = tiny_checkpoint("llama", tmp_path / "source")
    path = grouped_checkpoint(source, tmp_path / "q", GPTQ)
    changed = _changed(path, tmp_path / "changed", name, tensor)
    with pytest.raises(MalformedCheckpoint, match=words):
        load_backbone(read_checkpoint(changed, "changed"), "float32", "cpu")


def test_a_bias_of_zeros_where_the_family_has_none_is_none(tmp_path: Path) -> None:
    source = tiny_checkpoint("llama", tmp_path / "source")
    path = grouped_checkpoint(source, tmp_path / "q", GPTQ)
    changed = _changed(path, tmp_path / "changed", f"{_Q}.bias", torch.zeros(64))
    assert load_backbone(read_checkpoint(changed, "changed"), "float32", "cpu").linears


def test_matrices_of_another_shape_than_the_configs_are_refused(
    tiny_path: Path, tmp_path: Path
) -> None:
    path = grouped_checkpoint(tiny_path, tmp_path / "q", AWQ)
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps(config | {"intermediate_size": 160}))
    with pytest.raises(MalformedCheckpoint, match=r"another shape|not 160 x 64"):
        load_backbone(read_checkpoint(path, "q"), "float32", "cpu")


def test_a_matrix_that_no_layer_has_is_refused(tiny_path: Path, tmp_path: Path) -> None:
    path = grouped_checkpoint(tiny_path, tmp_path / "q", AWQ)
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(
        json.dumps(config | {"num_hidden_layers": 2, "layer_types": None})
    )
    with pytest.raises(MalformedCheckpoint, match="which no layer is"):
        load_backbone(read_checkpoint(path, "q"), "float32", "cpu")
