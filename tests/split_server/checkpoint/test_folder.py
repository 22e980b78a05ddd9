"""Opening checkpoints: what is read, and what is refused."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError
from safetensors.numpy import load_file, save_file

from split_server.checkpoint import folder
from split_server.checkpoint.folder import open_checkpoint, read_checkpoint
from split_server.errors import CheckpointNotFound, MalformedCheckpoint, UnsafeCheckpoint
from tests.pipes import pipe


@pytest.fixture
def copy(tiny_path: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_path, tmp_path / "copy"))


def test_a_slice_holds_the_very_bytes_of_its_tensor(tiny_path: Path) -> None:
    checkpoint = open_checkpoint(str(tiny_path))
    truth = load_file(tiny_path / "model.safetensors")
    assert set(checkpoint.tensors) == set(truth)
    for name, tensor in checkpoint.tensors.items():
        raw = tensor.file.read_bytes()[tensor.offset : tensor.offset + tensor.size]
        assert tensor.shape == truth[name].shape
        np.testing.assert_array_equal(np.frombuffer(raw, "<f4"), truth[name].ravel())


def test_a_sharded_checkpoint_is_indexed_over_all_its_files(copy: Path) -> None:
    tensors = load_file(copy / "model.safetensors")
    names = sorted(tensors)
    shards = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, part in shards.items():
        save_file({name: tensors[name] for name in part}, copy / file)
    (copy / "model.safetensors").unlink()
    weight_map = {name: file for file, part in shards.items() for name in part}
    index = {"weight_map": weight_map}
    (copy / "model.safetensors.index.json").write_text(json.dumps(index))
    checkpoint = read_checkpoint(copy, "sharded")
    assert set(checkpoint.tensors) == set(names)
    assert [file.name for file in checkpoint.weight_files] == ["a.safetensors", "b.safetensors"]


def test_the_licence_is_read_from_the_model_card(copy: Path) -> None:
    (copy / "README.md").write_text("---\nlicense: apache-2.0\n---\n# A model\n")
    assert read_checkpoint(copy, "tiny").licence == "apache-2.0"


def test_weights_that_exist_only_as_pickle_are_refused(copy: Path) -> None:
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(UnsafeCheckpoint, match="safetensors"):
        read_checkpoint(copy, "pickled")


def test_a_checkpoint_that_wants_its_own_code_is_refused(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(
        json.dumps(config | {"model_type": "new", "auto_map": {"AutoModel": "evil.Model"}})
    )
    with pytest.raises(UnsafeCheckpoint):
        read_checkpoint(copy, "remote code")


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(copy: Path, missing: str) -> None:
    (copy / missing).unlink()
    with pytest.raises(CheckpointNotFound, match=f"{missing}.*; (a model's folder|fetch)"):
        read_checkpoint(copy, "incomplete")


@pytest.mark.parametrize("kept", [4, 40, 2000])
def test_a_cut_weights_file_is_refused(copy: Path, kept: int) -> None:
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:kept])
    with pytest.raises(MalformedCheckpoint):
        read_checkpoint(copy, "cut")


@pytest.mark.parametrize("text", ["[]", "{", ""])
def test_a_config_that_is_no_object_is_refused_by_its_path(copy: Path, text: str) -> None:
    (copy / "config.json").write_text(text)
    with pytest.raises(MalformedCheckpoint, match=r"copy/config\.json is not .*; fetch"):
        read_checkpoint(copy, "list")


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A working folder from which nothing may be asked of a hub."""

    def asked(model: str) -> Path:
        raise AssertionError(f"the hub was asked for {model}")

    monkeypatch.setattr(folder, "_download", asked)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "weights.safetensors").write_bytes(b"")
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "empty").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    return tmp_path


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("./missing", "does not exist"),
        ("../missing", "does not exist"),
        ("/missing/folder", "does not exist"),
        ("~/missing", "does not exist"),
        ("~nobody-here/model", "home folder of nobody"),
        ("models/missing/", "does not exist"),
        ("dangling", "does not exist"),
        ("org/empty", "has no config.json"),
    ],
)
def test_what_exists_or_is_written_as_a_path_never_goes_to_the_hub(
    no_hub: Path, model: str, words: str
) -> None:
    with pytest.raises(CheckpointNotFound, match=f"{words}.*safetensors"):
        open_checkpoint(model)


@pytest.mark.parametrize("model", ["weights.safetensors", "./weights.safetensors"])
def test_a_file_is_read_as_gguf_or_refused(no_hub: Path, model: str) -> None:
    (no_hub / "weights.safetensors").write_bytes(bytes(64))
    with pytest.raises(MalformedCheckpoint, match="not a GGUF file; --model takes"):
        open_checkpoint(model)


def test_what_may_be_a_name_on_the_hub_does(no_hub: Path) -> None:
    with pytest.raises(AssertionError, match="the hub was asked for org/other"):
        open_checkpoint("org/other")


def test_a_hub_that_cannot_be_reached_is_told_in_a_line_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(*_: object, **__: object) -> str:
        raise LocalEntryNotFoundError("an error happened while trying to locate the files")

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with pytest.raises(CheckpointNotFound, match=r"cannot be reached; check the network, or name"):
        open_checkpoint("org/other")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        CheckpointNotFound, match=r"reached \(HF_HUB_OFFLINE is set\); check .*--model"
    ):
        open_checkpoint("org/other")


def test_a_path_from_the_home_folder_is_opened(no_hub: Path, tiny_path: Path) -> None:
    (no_hub / "tiny").symlink_to(tiny_path)
    assert open_checkpoint("~/tiny").path == no_hub / "tiny"


def test_a_name_that_is_neither_folder_nor_hub_id_is_refused() -> None:
    with pytest.raises(CheckpointNotFound):
        open_checkpoint("no such/folder or id")


def test_a_tensors_name_does_not_reach_the_terminal_as_it_is(copy: Path) -> None:
    header = json.dumps(
        {"\x1b]0;owned\x07": {"dtype": "F32", "shape": [1], "data_offsets": [0, 9]}}
    )
    data = struct.pack("<Q", len(header)) + header.encode()
    (copy / "model.safetensors").write_bytes(data)
    with pytest.raises(MalformedCheckpoint, match="owned") as caught:
        read_checkpoint(copy, "x")
    assert str(caught.value).isprintable()


def test_a_pipe_in_place_of_a_text_is_told_and_not_waited_for(copy: Path) -> None:
    path = copy / "config.json"
    with pipe(path, path.read_bytes()), pytest.raises(MalformedCheckpoint, match="config"):
        read_checkpoint(copy, "x")
