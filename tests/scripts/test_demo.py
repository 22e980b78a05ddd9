"""``scripts/demo`` in a terminal, with everything set up already."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminals import Terminal, terminal

_SCRIPTS = Path(__file__).parents[2] / "scripts"
_QUESTION = "What is split inference?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout whose set-up has nothing to do."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "__init__.py").write_text("")
    shutil.copy(_SCRIPTS / "demo", scripts)
    shutil.copytree(_SCRIPTS / "demonstration", scripts / "demonstration")
    (scripts / "setup").write_text("")
    (tmp_path / "server" / "split_server" / "web_app").mkdir(parents=True)
    (tmp_path / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    return tmp_path


def _demo(folder: Path, *arguments: str) -> list[str]:
    return ["bash", str(folder / "scripts" / "demo"), *arguments]


def _environment(folder: Path) -> dict[str, str]:
    (folder / "config.toml").write_text("")
    own = {"SPLIT_DATA": str(folder / "data"), "SPLIT_CONFIG": str(folder / "config.toml")}
    return own | {"SPLIT_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}


def _servers_of(shown: Terminal) -> list[int]:
    """The processes of the demo's server."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    parent = str(shown.process.pid)
    return [int(pid) for pid, above, args in rows if above == parent and "split-server" in args]


def test_ctrl_c_ends_a_reply_and_not_the_server_whose_own_end_is_told(folder: Path) -> None:
    with terminal(_demo(folder), env=_environment(folder)) as shown:
        assert "the same chat in a browser: http://127.0.0.1:" in shown.wait_for("/help.*> ")
        shown.type(_QUESTION + "\r")
        shown.wait_for("inference ")
        shown.type("\x03")
        shown.wait_for("stopped.*> ")
        shown.type("/retry\r")
        assert "stopped" not in shown.wait_for("tok/s.*> ")
        assert "connection lost" not in shown.seen
        (server,) = _servers_of(shown)
        shown.type("Hello")
        os.kill(server, signal.SIGKILL)
        told = shown.wait_for("Ctrl-D leaves")
        assert "the server ended (killed by SIGKILL" in told
        assert "  listening on http://127.0.0.1:" in told
        # The prompt stands below, with what was begun.
        shown.wait_for("Ctrl-D leaves.*> Hello")
        shown.type("\x15/save kept\r")
        shown.wait_for("saved 2 messages.*> ")
        shown.type("\x04")
        assert shown.end() == 1
