"""Progress of ``scripts/setup`` in a terminal, with a pip that goes on when it is told to."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.patience import until
from tests.terminals import terminal

_SCRIPTS = Path(__file__).parents[2] / "scripts"
# The venv that it makes is this interpreter alone; each file ``said-N`` is what it says next.
_PYTHON = """#!/bin/sh
here=$(dirname "$0")/../..
case "$*" in
  *"-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python; exit;;
  *--editable*) exit;;
  -c*) exit;;
esac
echo $$ > "$here/pid"
for step in 1 2 3 4 5; do
  while ! [ -e "$here/said-$step" ]; do sleep 0.05; done
  cat "$here/said-$step"
  [ $step != 2 ] || mkdir "$TMPDIR/pip-unpack-x"
  [ $step != 2 ] || dd if=/dev/zero of="$TMPDIR/pip-unpack-x/torch.whl" bs=1 count=1 seek=88399999
done
[ -z "$REFUSED" ] || { echo "$REFUSED" >&2; exit 1; }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout without an environment, whose lock has four packages for this system."""
    (tmp_path / "scripts").mkdir()
    for name in ("setup", "setup_progress"):
        shutil.copy(_SCRIPTS / name, tmp_path / "scripts")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "requirements").mkdir()
    lock = "{} \\\n    --hash=sha256:00\n"
    (tmp_path / "requirements/build.txt").write_text("# made\n" + lock.format("hatchling==1.0"))
    (tmp_path / "requirements/base.txt").write_text(
        lock.format("numpy==2.1")
        + lock.format("colorama==1 ; sys_platform == 'win32'")
        + lock.format("torch==2.13.0")
        + lock.format("zlib==1.0")
    )
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text(_PYTHON)
    python.chmod(0o755)
    return tmp_path


def _environment(folder: Path) -> dict[str, str]:
    return {"PYTHON": str(folder / "bin/python")}


def _setup(folder: Path) -> list[str]:
    return ["bash", str(folder / "scripts/setup")]


def test_a_person_sees_what_is_installed_and_how_far_it_is(folder: Path) -> None:
    with terminal(_setup(folder), env=_environment(folder)) as shown:
        said = shown.wait_for("asking the package index")
        assert "setup: installing gatelink into .venv, once: 4 packages; this takes" in said
        (folder / "said-1").write_text("Collecting numpy==2.1 (from -r base.txt (line 1))\n")
        shown.wait_for(r"setup: \d:\d\d  looking up numpy 2\.1; package 1 of 4")
        (folder / "said-2").write_text(
            "  Downloading numpy-2.1-cp311-manylinux.whl.metadata (62 kB)\n"
            "  Downloading numpy-2.1-cp311-manylinux.whl (900 kB)\n"
            "Collecting torch==2.13.0\n"
            "  Downloading http://index/torch-2.13.0%2Bcpu-cp311-linux_x86_64.whl (175.0 MB)\n"
        )
        shown.wait_for("downloading torch 2.13.0, 88 of 175.0 MB; package 2 of 4")
        (folder / "said-3").write_text(
            "Collecting zlib==1.0\n  Using cached zlib-1.0-any.whl (9 kB)\n"
        )
        shown.wait_for("taking from the cache zlib 1.0; package 3 of 4")
        (folder / "said-4").write_text("Installing collected packages: zlib, numpy\n")
        shown.wait_for("unpacking 4 packages")
        (folder / "said-5").write_text("Successfully installed numpy-2.1 zlib-1.0\n")
        shown.wait_for(r"setup: done after \d:\d\d")
        assert shown.end() == 0
    assert not (folder / ".venv/tmp").exists()


def test_a_failure_shows_the_end_of_the_log_and_is_taken_up_again(folder: Path) -> None:
    for step in range(1, 6):
        (folder / f"said-{step}").write_text(f"Collecting package{step}\n")
    refused = "ERROR: no space left on device"
    environ = os.environ | _environment(folder)
    done = subprocess.run(
        _setup(folder), env=environ | {"REFUSED": refused}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.index("setup: pip could not install") < done.stderr.index(refused)
    assert "Collecting package5" in done.stderr
    assert subprocess.run(_setup(folder), env=environ, capture_output=True).returncode == 0


def test_ctrl_c_ends_the_installation(folder: Path) -> None:
    with terminal(_setup(folder), env=_environment(folder)) as shown:
        shown.wait_for("asking the package index")
        shown.type("\x03")
        assert shown.end() == 130
    pip = int((folder / "pid").read_text())

    def gone() -> bool:
        try:
            os.kill(pip, 0)
        except ProcessLookupError:
            return True
        return False

    until(gone)
