from __future__ import annotations

from pathlib import Path

import pytest

from split_server.adapters.errors import AdaptersNotFound, AdapterUnusable
from split_server.adapters.model_digest import weights_sha256
from split_server.adapters.served import served_adapters
from split_server.checkpoint.folder import Checkpoint, read_checkpoint
from tests.adapted import write_adapter
from tests.checkpoints import tiny_checkpoint

HIDDEN = 64


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    path = tiny_checkpoint("qwen2", tmp_path_factory.mktemp("own") / "own")
    return read_checkpoint(path, "own")


def test_a_model_without_adapters_has_none(checkpoint: Checkpoint) -> None:
    assert served_adapters(None, checkpoint, HIDDEN) == {}


def test_the_models_own_folder_is_taken_unless_another_is_named(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    digest = weights_sha256(checkpoint.weight_files)
    own = checkpoint.path / "adapters" / "own"
    write_adapter(own, HIDDEN, base_model_sha256=digest)
    write_adapter(tmp_path / "other", HIDDEN)
    try:
        assert list(served_adapters(None, checkpoint, HIDDEN)) == ["own"]
        assert list(served_adapters(tmp_path, checkpoint, HIDDEN)) == ["other"]
    finally:
        for file in own.iterdir():
            file.unlink()
        own.rmdir()
        own.parent.rmdir()


def test_an_adapter_for_other_weights_is_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    write_adapter(tmp_path / "x", HIDDEN, base_model_sha256="0" * 64)
    with pytest.raises(AdapterUnusable, match="other weights"):
        served_adapters(tmp_path, checkpoint, HIDDEN)


def test_a_folder_that_was_named_must_be_there(checkpoint: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(AdaptersNotFound):
        served_adapters(tmp_path / "nowhere", checkpoint, HIDDEN)


def test_what_cannot_be_used_is_left_out_where_somebody_is_told(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    write_adapter(tmp_path / "good", HIDDEN)
    write_adapter(tmp_path / "other", HIDDEN, base_model_sha256="0" * 64)
    (tmp_path / "empty").mkdir()
    left_out: list[AdapterUnusable] = []
    assert list(served_adapters(tmp_path, checkpoint, HIDDEN, left_out.append)) == ["good"]
    assert [error.folder for error in left_out] == ["empty", "other"]
