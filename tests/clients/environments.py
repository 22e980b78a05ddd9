"""Clients in environments of their own, pinned, below ``.demo/clients``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE

# The switch: 1 for all of them but the largest, else names with commas between.
SWITCH = "GATELINK_CLIENTS"
# Downloads of gigabytes, which run by their names alone.
_LARGEST = ("open_webui_chat",)
_ROOT = Path(__file__).parents[2]
_PROGRAMS = Path(__file__).parent
_KEPT = _ROOT / ".demo" / "clients"
# A program asks a dozen times.
_SECONDS = 5 * PATIENCE


def wanted(name: str) -> bool:
    """Whether the switch asks for the client ``name``."""
    asked = os.environ.get(SWITCH, "")
    return (asked == "1" and name not in _LARGEST) or name in asked.split(",")


def needs(name: str) -> pytest.MarkDecorator:
    """Skips what the switch does not ask for."""
    switches = f"{SWITCH}={name}" if name in _LARGEST else f"{SWITCH}=1 or ={name}"
    return pytest.mark.skipif(not wanted(name), reason=f"runs with {switches}")


def run_python(pins: tuple[str, ...], program: str, *arguments: str) -> dict[str, Any]:
    """What ``program`` prints, run with exactly ``pins`` and what these need."""
    folder = _KEPT / program
    python = folder / "bin" / "python"
    if _outdated(folder, pins):
        shutil.rmtree(folder, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(folder)], folder.parent)
        _run([str(python), "-m", "pip", "install", "-q", *pins], folder)
        _mark(folder, pins)
    return _printed([str(python), str(_found(f"{program}.py")), *arguments], folder)


def run_node(pins: tuple[str, ...], program: str, *arguments: str) -> dict[str, Any]:
    """The same of a program for Node.js; packages are written as ``name@version``."""
    folder = _KEPT / program
    if _outdated(folder, pins):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true, "type": "module"}\n')
        quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--save-exact")
        _run(["npm", "install", *quiet, *pins], folder)
        _mark(folder, pins)
    # Modules are looked for from where the program lies.
    shutil.copy(_found(f"{program}.mjs"), folder)
    return _printed(["node", f"{program}.mjs", *arguments], folder)


def run_packed(pin: str, program: str, *arguments: str) -> dict[str, Any]:
    """The same beside the unpacked files of one package, without what it needs itself."""
    folder = _KEPT / program
    if _outdated(folder, (pin,)):
        shutil.rmtree(folder, ignore_errors=True)
        _run(["npm", "pack", "--silent", pin], folder)
        (packed,) = folder.glob("*.tgz")
        with tarfile.open(packed) as files:
            files.extractall(folder, filter="data")
        _mark(folder, (pin,))
    shutil.copy(_found(f"{program}.mjs"), folder)
    return _printed(["node", f"{program}.mjs", *arguments], folder)


def _found(program: str) -> Path:
    """The program of this name; those of the rooms have different ones."""
    (path,) = _PROGRAMS.glob(f"*/programs/{program}")
    return path


def _outdated(folder: Path, pins: tuple[str, ...]) -> bool:
    mark = folder / "pins.json"
    return not mark.exists() or json.loads(mark.read_text()) != list(pins)


def _mark(folder: Path, pins: tuple[str, ...]) -> None:
    (folder / "pins.json").write_text(json.dumps(pins))


def _run(command: list[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(command, cwd=folder, check=True, timeout=2 * _SECONDS)


def _printed(command: list[str], folder: Path) -> dict[str, Any]:
    """The JSON of the last line."""
    bare = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    # Nothing is reported to anybody, and nothing more is fetched.
    home = {"HOME": str(folder), "OPENAI_AGENTS_DISABLE_TRACING": "1", "NO_PROXY": "*"}
    home |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        command, cwd=folder, env=bare | home, capture_output=True, text=True, timeout=_SECONDS
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
