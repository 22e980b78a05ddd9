"""Installs and messages of ``scripts/setup_web``, on a machine that only writes commands down."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

_SETUP = Path(__file__).parents[2] / "scripts" / "setup_web"
_TOOLS = ("bash", "cat", "cksum", "dirname", "mkdir", "sed", "touch", "tr")
_NPM = '#!/bin/sh\necho npm "$@" >> "$ASKED"\nmkdir -p web/node_modules\n'
_APT = '#!/bin/sh\necho apt-get "$@" >> "$ASKED"\n'
_NOTHING = "#!/bin/sh\n"


@dataclass
class _Machine:
    """A copy of the script, and ``bin`` with all commands that there are."""

    folder: Path

    def __post_init__(self) -> None:
        (self.folder / "scripts").mkdir()
        (self.folder / "web").mkdir()
        (self.folder / "bin").mkdir()
        shutil.copy(_SETUP, self.folder / "scripts")
        (self.folder / "web/package-lock.json").write_text("{}")
        for tool in _TOOLS:
            found = shutil.which(tool)
            assert found is not None
            (self.folder / "bin" / tool).symlink_to(found)
        self.add(id="#!/bin/sh\necho 1000\n")

    def add(self, **commands: str) -> None:
        for name, text in commands.items():
            file = self.folder / "bin" / name
            file.write_text(text)
            file.chmod(0o755)

    def run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.folder / "bin"), "ASKED": str(self.folder / "asked")}
        return subprocess.run(
            [str(self.folder / "bin/bash"), str(self.folder / "scripts/setup_web")],
            env=environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def asked(self) -> list[str]:
        file = self.folder / "asked"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> _Machine:
    assert os.name == "posix"
    return _Machine(tmp_path)


def test_where_everything_is_there_npm_is_asked_once(machine: _Machine) -> None:
    machine.add(chromium=_NOTHING, certutil=_NOTHING, node=_NOTHING, npm=_NPM)
    first, second = machine.run(CI="1"), machine.run(CI="1")
    assert (first.returncode, second.returncode) == (0, 0)
    assert "skipped" not in first.stderr
    assert machine.asked == ["npm --prefix web ci --ignore-scripts --no-audit --no-fund"]


def test_another_lock_file_is_installed_again(machine: _Machine) -> None:
    machine.add(chromium=_NOTHING, certutil=_NOTHING, node=_NOTHING, npm=_NPM)
    machine.run()
    (machine.folder / "web/package-lock.json").write_text("{ }")
    machine.run()
    assert len(machine.asked) == 2


def test_what_is_missing_is_said_and_fails_in_ci_alone(machine: _Machine) -> None:
    outside, inside = machine.run(), machine.run(CI="true")
    assert (outside.returncode, inside.returncode) == (0, 1)
    said = "there is no Chromium, certutil, Node.js 20, web/node_modules (Debian: apt-get install"
    assert said in outside.stderr
    assert machine.asked == []


def test_an_old_node_is_none(machine: _Machine) -> None:
    machine.add(chromium=_NOTHING, certutil=_NOTHING, node="#!/bin/sh\nexit 1\n", npm=_NPM)
    assert "no Node.js 20, web/node_modules (" in machine.run().stderr
    assert machine.asked == []


def test_root_on_debian_gets_what_is_missing_and_nobody_else(machine: _Machine) -> None:
    machine.add(node=_NOTHING, npm=_NPM, **{"apt-get": _APT})
    machine.run()
    assert not any(line.startswith("apt-get") for line in machine.asked)
    machine.add(id="#!/bin/sh\necho 0\n")
    machine.run()
    installs = [line for line in machine.asked if line.startswith("apt-get install")]
    assert [line.split()[-3:] for line in installs] == [
        ["chromium", "fonts-dejavu-core", "libnss3-tools"]
    ]


def test_an_npm_that_fails_is_said(machine: _Machine) -> None:
    machine.add(chromium=_NOTHING, certutil=_NOTHING, node=_NOTHING, npm="#!/bin/sh\nexit 1\n")
    ended = machine.run()
    assert ended.returncode == 0
    assert "npm could not" in ended.stderr
    assert "no web/node_modules (" in ended.stderr
