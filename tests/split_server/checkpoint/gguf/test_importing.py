"""GGUF files by the commands and settings that take one."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from split_server.checkpoint.folder import open_checkpoint
from split_server.checkpoint.gguf.importing import imported_folder
from split_server.commands import main
from split_server.errors import CheckpointNotFound, MalformedCheckpoint, UnsupportedFamily
from tests.checkpoints import tiny_checkpoint
from tests.gguf_files import as_gguf


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gguf")
    return as_gguf(tiny_checkpoint("llama", folder / "hf"), folder / "Tiny-1M.F32.gguf")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gatelink" / "gguf"


def test_a_file_is_a_model_under_its_own_name_made_once(gguf: Path, cache: Path) -> None:
    checkpoint = open_checkpoint(str(gguf))
    digest = hashlib.sha256(gguf.read_bytes()).hexdigest()
    assert checkpoint.name == "Tiny-1M.F32"
    assert checkpoint.path == cache / f"{digest}-bfloat16"
    made = (checkpoint.path / "model.safetensors").stat()
    again = open_checkpoint(str(gguf)).path / "model.safetensors"
    assert again.stat().st_ino == made.st_ino
    assert again.stat().st_mtime_ns == made.st_mtime_ns


def test_what_a_killed_import_left_is_removed_by_the_next(gguf: Path, cache: Path) -> None:
    digest = hashlib.sha256(gguf.read_bytes()).hexdigest()
    left = cache / f".{digest}-bfloat16-abc"
    left.mkdir(parents=True)
    (left / "model.safetensors").write_bytes(bytes(100))
    imported_folder(gguf)
    assert [path.name for path in cache.iterdir() if path.is_dir()] == [f"{digest}-bfloat16"]


def test_two_that_import_at_once_get_one_folder(gguf: Path, cache: Path) -> None:
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(imported_folder(gguf))) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 2
    assert found[0] == found[1]
    assert [path.name for path in cache.iterdir() if path.is_dir()] == [found[0].name]


def test_a_changed_file_is_another_model(gguf: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    data = bytearray(gguf.read_bytes())
    data[-1] ^= 1
    other.write_bytes(data)
    assert imported_folder(other) != imported_folder(gguf)


def test_the_command_makes_the_folder_that_it_is_asked_for(
    gguf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "made"
    command = ["import", str(gguf), "--as", str(target), "--dtype", "float32"]
    assert main(command) == 0
    assert f"--model {target}" in capsys.readouterr().out
    assert main(["manifest", "--model", str(target)]) == 0
    assert "made (llama), licence cc0-1.0" in capsys.readouterr().out
    assert main(command) == 1
    assert "exists; name a folder that does not [checkpoint_not_found]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"PK\x03\x04", MalformedCheckpoint, "cut short|not a GGUF"),
        (b"GGUF" + bytes(100), MalformedCheckpoint, "version 0"),
    ],
)
def test_a_file_that_is_none_is_refused_by_the_process_that_reads_it(
    data: bytes, error: type[Exception], words: str, tmp_path: Path, cache: Path
) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(data)
    with pytest.raises(error, match=words):
        open_checkpoint(str(file))
    assert not [path for path in cache.glob("*") if path.is_dir()]


def test_a_family_that_is_not_read_is_named(gguf: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(
        gguf.read_bytes().replace(b"\x05" + bytes(7) + b"llama", b"\x05" + bytes(7) + b"mamba", 1)
    )
    with pytest.raises(UnsupportedFamily, match="'mamba in GGUF' are not supported"):
        open_checkpoint(str(file))


def test_a_file_that_is_not_there_is_not_asked_of_a_hub(tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFound):
        imported_folder(tmp_path / "absent.gguf")


def test_a_file_is_read_within_a_smaller_limit_of_the_operator_too(
    gguf: Path, tmp_path: Path
) -> None:
    target = tmp_path / "made"
    limited = ["bash", "-c", 'ulimit -d 2000000 && exec "$@"', "bash"]
    worker = [sys.executable, "-P", "-m", "split_server.checkpoint.gguf.worker"]
    done = subprocess.run(
        [*limited, *worker, str(gguf), str(target), "bfloat16", "whole"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout) == {"folder": str(target)}, done.stderr
