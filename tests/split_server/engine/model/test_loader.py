"""Checkpoints and devices that load, and those that are refused by name."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.module import own_memory
from split_server.errors import MalformedCheckpoint, UnsupportedFamily, UnusableDevice
from tests.checkpoints import tiny_checkpoint
from tests.engines import tiny_backbone
from tests.exhaustive import EXHAUSTIVE


def test_the_loaded_middle_has_no_embedding_table(family_path: Path) -> None:
    backbone = load_backbone(read_checkpoint(family_path, "tiny"), "float32", "cpu")
    table = (backbone.info.vocab_size, backbone.info.hidden_size)
    assert all(tuple(p.shape) != table for p in backbone.module.parameters())


def test_info_names_what_the_config_says(family_path: Path) -> None:
    info = load_backbone(read_checkpoint(family_path, "tiny"), "float32", "cpu").info
    assert (info.hidden_size, info.num_layers, info.max_context, info.dtype) == (64, 3, 512, "f32")
    # 3 layers x keys and values x 2 kv heads x 16 x 4 bytes
    assert info.kv_bytes_per_position == 3 * 2 * 2 * 16 * 4
    assert info.eos_token_ids == (2, 0)


def test_auto_computes_a_float16_checkpoint_in_float32_on_a_cpu(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "half", dtype="float16")
    assert load_backbone(read_checkpoint(path, "half"), "auto", "cpu").dtype is torch.float32


def test_code_beside_a_checkpoint_of_a_known_family_is_never_run(
    tiny_path: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(tiny_path, tmp_path / "copy")
    config = json.loads((copy / "config.json").read_text())
    names = dict.fromkeys(("AutoConfig", "AutoModel", "AutoModelForCausalLM"), "own.Model")
    (copy / "config.json").write_text(json.dumps(config | {"auto_map": names}))
    (copy / "own.py").write_text("raise SystemExit('code of the checkpoint was run')\n")
    backbone = tiny_backbone(copy)
    assert type(backbone.module).__module__.startswith("transformers.")


def test_auto_keeps_bfloat16(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "bf", dtype="bfloat16")
    assert load_backbone(read_checkpoint(path, "bf"), "auto", "cpu").info.dtype == "bf16"


@pytest.mark.parametrize("family", ["gpt2", "gemma3n", "opt"])
def test_an_unsupported_family_is_refused_by_name(
    tiny_path: Path, tmp_path: Path, family: str
) -> None:
    config = json.loads((tiny_path / "config.json").read_text()) | {"model_type": family}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.safetensors").write_bytes((tiny_path / "model.safetensors").read_bytes())
    with pytest.raises(UnsupportedFamily, match=family):
        load_backbone(read_checkpoint(tmp_path, "other"))


@pytest.mark.parametrize(("dtype", "device"), [("int4", "cpu"), ("auto", "nonsense")])
def test_an_unusable_dtype_or_device_is_refused(tiny_path: Path, dtype: str, device: str) -> None:
    with pytest.raises(UnusableDevice):
        load_backbone(read_checkpoint(tiny_path, "tiny"), dtype, device)


def test_a_config_without_shape_is_refused(tiny_path: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen2"}))
    (tmp_path / "model.safetensors").write_bytes((tiny_path / "model.safetensors").read_bytes())
    with pytest.raises(MalformedCheckpoint):
        load_backbone(read_checkpoint(tmp_path, "broken"))


_WIDTHS = {"hidden_size": 1024, "intermediate_size": 4096}


@pytest.fixture(scope="module")
def large_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some 240 MB of matrices."""
    path = tmp_path_factory.mktemp("large") / "large"
    return tiny_checkpoint("qwen2", path, dtype="bfloat16", num_hidden_layers=8, **_WIDTHS)


@pytest.fixture(scope="module")
def large_bytes(large_path: Path) -> int:
    """Of its weights."""
    backbone = load_backbone(read_checkpoint(large_path, "large"), "auto", "cpu", linears="plain")
    return sum(parameter.nbytes for parameter in backbone.parameters)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="private memory is read from /proc")
@pytest.mark.parametrize(
    ("options", "share"),
    [
        ({"linears": "auto"}, 1.0),
        *([({"linears": "plain"}, 1.0), ({"quantize": "int8"}, 0.5)] if EXHAUSTIVE else []),
    ],
)
def test_loading_never_holds_the_model_twice(
    large_path: Path, large_bytes: int, tmp_path: Path, options: dict[str, str], share: float
) -> None:
    small = tiny_checkpoint(
        "qwen2", tmp_path / "small", dtype="bfloat16", num_hidden_layers=1, **_WIDTHS
    )
    weights = share * large_bytes
    command = [sys.executable, "-m", "tests.split_server.engine.model.loading_probe"]
    done = subprocess.run(
        [*command, str(small), str(large_path), json.dumps(options)],
        capture_output=True,
        check=True,
        timeout=120,
    )
    figures = json.loads(done.stdout)
    assert 0.8 * weights < figures["after"] - figures["base"] < 1.15 * weights
    assert figures["peak"] - figures["base"] < 1.35 * weights


@pytest.mark.parametrize("shape", [(3, 5), (), (0, 4), (1100, 1024)])
def test_weights_are_copied_whole_whatever_their_shape(shape: tuple[int, ...]) -> None:
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(torch.rand(shape), requires_grad=False)
    module.turned = torch.nn.Parameter(torch.rand(3, 5).T, requires_grad=False)
    before = [each.data for each in module.parameters()]
    own_memory(module)
    for old, new in zip(before, module.parameters(), strict=True):
        assert torch.equal(old, new)
        assert old.stride() == new.stride()
        assert not old.numel() or old.data_ptr() != new.data_ptr()
