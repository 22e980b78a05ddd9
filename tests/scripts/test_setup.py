"""Requests of ``scripts/setup`` to pip, seen by an interpreter that only writes them down."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_SETUP = Path(__file__).parents[2] / "scripts" / "setup"
_RECORDER = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/asked"\n'


def _asked(folder: Path, *extras: str, times: int = 1) -> list[str]:
    """The command lines of the environment's interpreter."""
    (folder / "scripts").mkdir()
    shutil.copy(_SETUP, folder / "scripts" / "setup")
    (folder / "pyproject.toml").write_text("")
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(_RECORDER)
    python.chmod(0o755)
    for _ in range(times):
        subprocess.run(["bash", str(folder / "scripts" / "setup"), *extras], check=True)
    return (python.parent / "asked").read_text().splitlines()


def test_without_arguments_the_plain_client_is_installed(tmp_path: Path) -> None:
    assert [line.split()[-2:] for line in _asked(tmp_path)] == [["--editable", "."]]


def test_named_extras_are_installed(tmp_path: Path) -> None:
    assert [line.split()[-1] for line in _asked(tmp_path, "server", "dev")] == [".[server,dev]"]


def test_a_second_run_installs_nothing(tmp_path: Path) -> None:
    assert len(_asked(tmp_path, times=2)) == 1
