"""Requests of ``scripts/setup`` to pip, seen by an interpreter that only writes them down."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_SCRIPTS = Path(__file__).parents[2] / "scripts"
# Written down are pip's arguments; "-c" asks for the build of torch that is there.
_RECORDER = """#!/bin/sh
case "$*" in
  -c*) printf '%s' "$INSTALLED"; exit;;
  *torch-cpu*) [ -z "$REFUSED" ] || { echo "$REFUSED" >&2; exit 1; };;
esac
echo "$@" >> "$(dirname "$0")/asked"
"""
_PLAIN = ["build", "base"]


def _folder(folder: Path) -> Path:
    (folder / "scripts").mkdir()
    for name in ("setup", "setup_progress"):
        shutil.copy(_SCRIPTS / name, folder / "scripts")
    (folder / "pyproject.toml").write_text("")
    (folder / "requirements").mkdir()
    (folder / "requirements" / "base.txt").write_text("")
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(_RECORDER)
    python.chmod(0o755)
    return folder


def _run(folder: Path, *extras: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(folder / "scripts" / "setup"), *extras]
    known = {name: value for name, value in os.environ.items() if name != "GATELINK_TORCH"}
    return subprocess.run(
        command, env=known | environ, capture_output=True, text=True, check=False, timeout=60
    )


def _asked(folder: Path) -> list[list[str]]:
    """The arguments of each request."""
    return [line.split() for line in (folder / ".venv/bin/asked").read_text().splitlines()]


def _parts(request: list[str]) -> list[str]:
    """The parts of the lock that a request names, which must be one with hashes."""
    assert "--require-hashes" in request
    return [Path(name).stem for name in request if name.endswith(".txt")]


@pytest.mark.parametrize(
    ("extras", "parts"), [((), _PLAIN), (("he", "dev"), [*_PLAIN, "he", "dev"])]
)
def test_everything_comes_from_the_lock_with_hashes(
    tmp_path: Path, extras: tuple[str, ...], parts: list[str]
) -> None:
    assert _run(_folder(tmp_path), *extras).returncode == 0
    locked, editable = _asked(tmp_path)
    assert _parts(locked) == parts
    assert editable[-4:] == ["--no-deps", "--no-build-isolation", "--editable", "."]


def test_a_server_takes_the_torch_that_is_there(tmp_path: Path) -> None:
    _run(_folder(tmp_path), "server", INSTALLED="torch")
    locked, _ = _asked(tmp_path)
    assert _parts(locked) == [*_PLAIN, "server", "torch"]


def test_the_torch_that_is_asked_for_is_taken_before_the_one_that_is_there(tmp_path: Path) -> None:
    _run(_folder(tmp_path), "server", INSTALLED="torch", GATELINK_TORCH="torch-cpu")
    locked, _ = _asked(tmp_path)
    assert _parts(locked) == [*_PLAIN, "server", "torch-cpu"]


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="elsewhere there is one build of torch")
def test_linux_takes_torch_without_cuda_where_an_index_has_it(tmp_path: Path) -> None:
    _run(_folder(tmp_path), "server")
    first, locked, _ = _asked(tmp_path)
    assert _parts(first) == ["torch-cpu"]
    assert _parts(locked) == [*_PLAIN, "server", "torch-cpu"]


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="elsewhere there is one build of torch")
def test_without_it_the_one_of_the_package_index_is_taken_and_said(tmp_path: Path) -> None:
    refused = "ERROR: No matching distribution found for torch==2.13.0+cpu"
    done = _run(_folder(tmp_path), "server", REFUSED=refused)
    locked, _ = _asked(tmp_path)
    assert _parts(locked) == [*_PLAIN, "server", "torch"]
    assert "no torch without CUDA" in done.stderr


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="elsewhere there is one build of torch")
def test_a_wrong_hash_ends_the_installation(tmp_path: Path) -> None:
    refused = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."
    done = _run(_folder(tmp_path), "server", REFUSED=refused)
    assert done.returncode != 0
    assert refused in done.stderr
    assert not (tmp_path / ".venv/bin/asked").exists()


def test_a_second_run_installs_nothing_until_the_lock_changes(tmp_path: Path) -> None:
    for _ in range(2):
        _run(_folder(tmp_path) if not (tmp_path / "scripts").exists() else tmp_path)
    assert len(_asked(tmp_path)) == 2
    (tmp_path / "requirements" / "base.txt").write_text("# another")
    _run(tmp_path)
    assert len(_asked(tmp_path)) == 4
