"""The digest that ``scripts/base_image`` writes down, asked of a registry that only answers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_DIGEST = "sha256:" + "5" * 64


def _run(folder: Path, answer: str, line: str) -> subprocess.CompletedProcess[str]:
    """Run it in a copy whose ``docker`` says ``answer``."""
    for name in ("scripts", "deploy", "bin"):
        (folder / name).mkdir(exist_ok=True)
    shutil.copy(_ROOT / "scripts" / "base_image", folder / "scripts")
    (folder / "deploy" / "Dockerfile").write_text(f"# x\n{line}\nFROM ${{BASE}}\n")
    docker = folder / "bin" / "docker"
    docker.write_text(f'#!/bin/sh\necho "$@" >> {folder}/asked\necho "{answer}"\n')
    docker.chmod(0o755)
    environ = os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    command = ["bash", str(folder / "scripts" / "base_image")]
    return subprocess.run(
        command, env=environ, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("before", ["", "@sha256:" + "1" * 64])
def test_the_digest_of_the_tag_stands_behind_it(tmp_path: Path, before: str) -> None:
    done = _run(tmp_path, _DIGEST, f"ARG BASE=python:3.12-slim{before}")
    assert (done.returncode, done.stdout) == (0, f"python:3.12-slim@{_DIGEST}\n")
    written = (tmp_path / "deploy" / "Dockerfile").read_text()
    assert written == f"# x\nARG BASE=python:3.12-slim@{_DIGEST}\nFROM ${{BASE}}\n"
    assert (tmp_path / "asked").read_text().split()[-1] == "python:3.12-slim"


@pytest.mark.parametrize(
    ("answer", "line"), [("no such manifest", "ARG BASE=python:3.12-slim"), (_DIGEST, "ARG X=1")]
)
def test_what_is_no_digest_is_not_written(tmp_path: Path, answer: str, line: str) -> None:
    assert _run(tmp_path, answer, line).returncode == 1
    assert (tmp_path / "deploy" / "Dockerfile").read_text() == f"# x\n{line}\nFROM ${{BASE}}\n"
