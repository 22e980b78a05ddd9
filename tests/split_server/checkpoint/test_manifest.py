"""The manifest is true, complete and the same after a restart."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file

from split_server.checkpoint.catalog import build_catalog
from split_server.checkpoint.folder import open_checkpoint, read_checkpoint
from split_server.checkpoint.manifest import Manifest, build_manifest
from split_server.errors import MalformedCheckpoint
from tests.checkpoints import CHAT_TEMPLATE, tiny_checkpoint

LOGIT_SCALES = {
    "granite": {"logit_scale": None, "logit_divisor": 1.7},
    "cohere": {"logit_scale": 0.7},
    "cohere2": {"logit_scale": 0.7},
}


def _manifest(path: Path) -> Manifest:
    checkpoint = read_checkpoint(path, "tiny")
    return build_manifest(checkpoint, build_catalog(checkpoint))


def test_the_digest_is_that_of_the_bytes_and_repeats(tiny_path: Path) -> None:
    manifest = _manifest(tiny_path)
    assert manifest.digest == hashlib.sha256(manifest.data).hexdigest()
    assert json.loads(manifest.data) == manifest.document
    assert _manifest(tiny_path).data == manifest.data


def test_it_says_what_the_configuration_says(tiny_path: Path) -> None:
    document = _manifest(tiny_path).document
    config = json.loads((tiny_path / "config.json").read_text())
    assert document["model"] == {"name": "tiny", "family": "qwen2", "licence": None}
    assert document["hidden_size"] == config["hidden_size"]
    assert document["vocab_size"] == config["vocab_size"]
    assert document["num_layers"] == config["num_hidden_layers"]
    assert document["max_context"] == config["max_position_embeddings"]
    assert document["eos_token_ids"] == [2, 0]
    assert document["bos_token_id"] == 0
    assert document["generation"] == {"temperature": 0.7, "top_k": 20}
    assert document["special_tokens"]["eos_token"] == "<|im_end|>"
    assert document["chat_template"] == "chat_template.jinja"


def test_files_are_listed_with_their_real_sizes_and_digests(tiny_path: Path) -> None:
    checkpoint = read_checkpoint(tiny_path, "tiny")
    catalog = build_catalog(checkpoint)
    for file in build_manifest(checkpoint, catalog).document["files"]:
        data = catalog.read(file["name"])
        assert file["size"] == len(data)
        assert file["sha256"] == hashlib.sha256(data).hexdigest()
        assert file["chunks"] == [hashlib.sha256(data).hexdigest()]
    assert catalog.read("chat_template.jinja").decode() == CHAT_TEMPLATE


@pytest.mark.parametrize(
    ("family", "tied", "scale", "softcap"),
    [
        ("qwen2", True, None, None),
        ("qwen3", False, None, None),
        ("llama", False, None, None),
        ("mistral", True, None, None),
        ("gemma", True, 8.0, None),
        ("gemma2", True, 8.0, 5.0),
        ("gemma2", False, 8.0, 5.0),
        ("gemma3_text", True, 8.0, 5.0),
        ("phi3", False, None, None),
        ("granite", True, None, None),
        ("cohere", True, None, None),
        ("cohere2", False, None, None),
    ],
)
def test_the_ends_of_each_family(
    family: str, tied: bool, scale: float | None, softcap: float | None, tmp_path: Path
) -> None:
    path = tiny_checkpoint(family, tmp_path / "c", tied=tied, dtype="bfloat16")
    ends = _manifest(path).document["ends"]
    rows = json.loads((path / "config.json").read_text())["vocab_size"]
    assert ends["embedding"] == {
        "file": "embedding.bin",
        "dtype": "bf16",
        "rows": rows,
        "scale": scale,
    }
    assert ends["lm_head"] == {
        "file": "embedding.bin" if tied else "head.bin",
        "dtype": "bf16",
        "rows": rows,
        "bias": None,
        "softcap": softcap,
        **LOGIT_SCALES.get(family, {"logit_scale": 1.0}),
    }


@pytest.mark.parametrize(
    ("divisor", "fields"),
    [
        (8.0, {"logit_scale": 0.125}),
        (1, {"logit_scale": 1.0}),
        (0.25, {"logit_scale": 4.0}),
        (6, {"logit_scale": None, "logit_divisor": 6.0}),
    ],
)
def test_a_divisor_is_written_as_a_factor_only_where_that_is_exact(
    divisor: float, fields: dict[str, float | None], tmp_path: Path
) -> None:
    path = tiny_checkpoint("granite", tmp_path / "c", logits_scaling=divisor)
    head = _manifest(path).document["ends"]["lm_head"]
    assert {name: head[name] for name in head if name.startswith("logit")} == fields


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_bias_is_served_in_float32_whatever_it_is_stored_in(
    dtype: str, tied: bool, tmp_path: Path
) -> None:
    path = tiny_checkpoint("phi", tmp_path / "c", tied=tied, dtype=dtype)
    checkpoint = read_checkpoint(path, "tiny")
    catalog = build_catalog(checkpoint)
    head = build_manifest(checkpoint, catalog).document["ends"]["lm_head"]
    stored = load_file(path / "model.safetensors")["lm_head.bias"]
    assert head["bias"] == "head_bias.bin"
    assert catalog.read("head_bias.bin") == stored.float().numpy().tobytes()


def test_another_middle_is_another_manifest(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "c")
    before = _manifest(path)
    weights = path / "model.safetensors"
    data = bytearray(weights.read_bytes())
    index = read_checkpoint(path, "tiny").tensors["model.layers.1.mlp.up_proj.weight"]
    data[index.offset] ^= 1
    weights.write_bytes(data)
    after = _manifest(path)
    assert after.document["files"] == before.document["files"]
    assert after.digest != before.digest


def test_another_configuration_is_another_manifest(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "c")
    before = _manifest(path).digest
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps(config | {"rope_theta": 5e5}))
    assert _manifest(path).digest != before


def test_the_folder_does_not_matter(tiny_path: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tiny_path, tmp_path / "elsewhere")
    assert _manifest(copy).digest == _manifest(tiny_path).digest


def test_a_configuration_without_layers_is_refused(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "c")
    config = json.loads((path / "config.json").read_text())
    del config["num_hidden_layers"]
    (path / "config.json").write_text(json.dumps(config))
    with pytest.raises(MalformedCheckpoint, match="num_hidden_layers"):
        _manifest(path)


def test_the_embedded_model_has_a_manifest() -> None:
    checkpoint = open_checkpoint(None)
    document = build_manifest(checkpoint, build_catalog(checkpoint)).document
    assert document["max_context"] == 4096
    assert document["eos_token_ids"]
    assert document["chat_template"] == "chat_template.jinja"
